"""Read scenes and their clips in the record of a storyboard. The spec does not document its shape.

A scene has an id, `raw_video_prompt` and `duration` (spec, Storyboard); everything else may be
missing or have another shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proxyapi.kinds.job_parts import first_text
from proxyapi.models.job_part import COMPLETED_WORDS
from proxyapi.upstream import response_parsing
from proxyapi.upstream.status_words import says_failure

PROMPT_KEYS = ("raw_video_prompt", "video_prompt", "prompt", "text")
CLIP_URL_KEYS = ("clip_url", "video_url")
DEFAULT_DURATION_S = 5  # seconds of a scene whose duration the record does not show
SceneRecord = Mapping[str, Any]


def storyboard_in(data: Any) -> dict[str, Any]:
    """The storyboard in an answer: `data` itself, an object in it, or a list of its scenes."""
    if isinstance(data, list):
        return {"scenes": data}
    record = response_parsing.as_mapping(data)
    if not record.keys() & {"id", "scenes", "video"}:
        nested = [value for value in record.values() if isinstance(value, dict)]
        holders = [value for value in nested if value.keys() & {"scenes", "video"}]
        record = holders[0] if len(holders) == 1 else record
    return dict(record)


def scene_records(record: Mapping[str, Any]) -> list[SceneRecord] | None:
    """The scenes with an id, in the record's order; None if it has no list of scenes."""
    rows = record.get("scenes")
    if not isinstance(rows, list):
        return None
    objects = (row for row in rows if isinstance(row, dict))
    scenes: list[SceneRecord] = [
        row for row in objects if response_parsing.is_resource_id(row.get("id"))
    ]
    return scenes if scenes or not rows else None


def scene_prompt(row: SceneRecord) -> str:
    return first_text(row, PROMPT_KEYS).strip()


def scene_duration(row: SceneRecord) -> int | None:
    """The seconds of a scene; None if the record does not show them."""
    seconds = response_parsing.parse_credit_amount(row.get("duration"))
    return int(seconds) if seconds and 0 < seconds <= 600 and seconds == int(seconds) else None


def frame_reference(row: SceneRecord, name: str) -> dict[str, str]:
    """A frame as a reference of a draft; empty without one."""
    frame = row.get(name)
    address = frame.get("url") if isinstance(frame, dict) else frame
    return {"address": address} if isinstance(address, str) and address else {}


def is_chained(row: SceneRecord) -> bool:
    return row.get("chained", row.get("is_chained")) is True


def clip_of_scene(row: SceneRecord) -> Mapping[str, Any] | None:
    """The clip of a scene, the last one of several; None without one."""
    clip = row.get("clip")
    if clip is None and isinstance(clips := row.get("clips"), list):
        clip = clips[-1] if clips else None
    if clip is None and (url := first_text(row, CLIP_URL_KEYS)):
        clip = url
    if isinstance(clip, str):
        return {"url": clip} if clip else None
    if clip is None or isinstance(clip, dict):
        return clip or None
    return {}  # it is there, and nothing is known of it


def clip_rows(record: Mapping[str, Any]) -> dict[str, Any]:
    """The clips of the record as a list of parts, each with the id of its scene; without the list
    if the record shows no scenes."""
    scenes = scene_records(record)
    if scenes is None:
        return {}
    rows = [
        {
            **clip,
            "id": scene["id"],
            "position": scene.get("position", place),
            "text": scene_prompt(scene),
            "duration": scene_duration(scene),
        }
        for place, scene in enumerate(scenes, start=1)
        if (clip := clip_of_scene(scene)) is not None
    ]
    return {"scenes": rows}


def clip_status(clip: Mapping[str, Any]) -> str:
    """`completed`, `failed` or `running`; a clip of which nothing is known is running."""
    status = str(clip.get("status") or "")
    if says_failure(status) or clip.get("failure"):
        return "failed"
    return (
        "completed" if status in COMPLETED_WORDS or (not status and clip.get("url")) else "running"
    )
