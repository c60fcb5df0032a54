"""What a copy of a storyboard contains, and which changes it can take. Pure functions of drafts.

The service shows no call that changes or deletes a scene, or the settings of a storyboard. It takes
new scenes, their order, frames and chains. So a copy can take a change of the last three, and new
scenes while its scenes are written by hand; any other change needs a new copy.

`Draft.settings` of a copy is what it is to contain, `Draft.sent_settings` what the service has:

    {"mode", "title", "clip_engine_id", "aspect_ratio", "resolution", "audio",
     "scenes": [{"scene": id here, and the `SCENE_FIELDS`}]}

in the order of the film; each sent scene has its `remote_id` too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proxyapi.models import Storyboard, StoryboardMode, StoryboardScene

CopyContent = Mapping[str, Any]
SETTING_FIELDS = ("clip_engine_id", "aspect_ratio", "resolution", "audio")
FIXED_SCENE_FIELDS = ("prompt", "duration")
FRAME_FIELDS = ("first_frame", "last_frame")
SCENE_FIELDS = (*FIXED_SCENE_FIELDS, "is_chained", *FRAME_FIELDS)


def copy_content(
    storyboard: Storyboard,
    scenes: Iterable[StoryboardScene],
    clip_engine_id: int | str | None,
    sent: CopyContent,
) -> dict[str, Any]:
    """What a copy is to contain now. A scene whose clip a member kept stays as it was sent."""
    sent_by_scene = scenes_by_id(sent)
    return {
        "mode": sent.get("mode") or StoryboardMode.MANUAL,
        "title": storyboard.title,
        "clip_engine_id": clip_engine_id,
        "aspect_ratio": storyboard.aspect_ratio,
        "resolution": storyboard.resolution,
        "audio": storyboard.audio,
        "scenes": [scene_content(scene, sent_by_scene.get(str(scene.pk))) for scene in scenes],
    }


def scene_content(scene: StoryboardScene, sent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    source = sent if sent and scene.kept_at else vars(scene)
    return {"scene": str(scene.pk), **{name: source[name] for name in SCENE_FIELDS}}


def scenes_by_id(content: CopyContent) -> dict[str, dict[str, Any]]:
    """The scenes of a copy by their id here."""
    return {scene["scene"]: scene for scene in content.get("scenes", ())}


def changed_fields(scene: StoryboardScene, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a scene that differ from what was sent, also if its clip was kept."""
    return tuple(name for name in SCENE_FIELDS if getattr(scene, name) != sent.get(name))


def can_take(sent: CopyContent, wanted: CopyContent) -> bool:
    """Whether a copy of which `sent` is at the service can become `wanted`."""
    if not sent:
        return True  # nothing was sent yet
    if any(sent.get(name) != wanted.get(name) for name in SETTING_FIELDS):
        return False
    wanted_by_id, sent_by_id = scenes_by_id(wanted), scenes_by_id(sent)
    if sent.get("mode") == StoryboardMode.WIZARD and wanted_by_id.keys() - sent_by_id.keys():
        return False
    return all(
        id in wanted_by_id
        and all(scene.get(name) == wanted_by_id[id].get(name) for name in FIXED_SCENE_FIELDS)
        for id, scene in sent_by_id.items()
    )
