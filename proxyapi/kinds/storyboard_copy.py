"""What a copy of a storyboard contains, and which changes it can take. Pure functions of drafts.

The service shows no call that changes or deletes a scene, or the settings of a storyboard. It takes
new scenes, their order, frames and chains. So a copy can take a change of the last three, and new
scenes while its scenes are written by hand; any other change needs a new copy.

`Draft.settings` of a copy is what it is to contain, `Draft.sent_settings` what the service has:

    {"mode", "title", "clip_engine_id", "aspect_ratio", "resolution", "audio",
     "scenes": [{"scene": id here, the `SCENE_FIELDS`, "unused": fields the engine does not take}],
     "unready": {id here: why the scene cannot be sent yet}}

in the order of the film. Each sent scene has its `remote_id` too (None if the service did not show
it), `requested_at` while the answer is not known to have added it, and `outdated`: the fields that
were sent after its clip.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from proxyapi.models import Storyboard, StoryboardMode, StoryboardScene
from proxyapi.models.draft import UNCONFIRMED_SETTING
from proxyapi.models.storyboard import FRAME_FIELDS

WRITING_OPERATION = "text_to_scene.prompt"  # the service writes the scenes
SCENE_CLIPS_OPERATION = "text_to_scene.clips"
STORYBOARD_RENDER_OPERATION = "text_to_scene.render"
CopyContent = Mapping[str, Any]
SETTING_FIELDS = ("clip_engine_id", "aspect_ratio", "resolution", "audio")
FIXED_SCENE_FIELDS = ("prompt", "duration")
SCENE_FIELDS = (*FIXED_SCENE_FIELDS, "is_chained", *FRAME_FIELDS)
NO_VALUES: Mapping[str, Any] = {"is_chained": False, "first_frame": {}, "last_frame": {}}
UNUSABLE_KEY = "unusable"  # the service lost it, or shows scenes that were not sent from here


def copy_content(
    storyboard: Storyboard,
    scenes: Iterable[StoryboardScene],
    clip_engine_id: int | str | None,
    sent: CopyContent,
    *,
    mode: str = "",
    taken_frames: Collection[str] = FRAME_FIELDS,
    unready: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What a copy is to contain now. A scene whose clip a member kept stays as it was sent.

    `taken_frames` are the frames that the engine takes, `unready` the scenes that cannot be sent.
    """
    sent_by_scene = scenes_by_id(sent)
    entries = [scene_content(scene, sent_by_scene.get(str(scene.pk))) for scene in scenes]
    for place, entry in enumerate(entries):
        drop_unused_fields(entry, taken_frames, is_first=place == 0)
    return {
        "mode": mode or sent.get("mode") or StoryboardMode.MANUAL,
        "title": storyboard.title,
        "clip_engine_id": clip_engine_id,
        "aspect_ratio": storyboard.aspect_ratio,
        "resolution": storyboard.resolution,
        "audio": storyboard.audio,
        "scenes": entries,
        "unready": dict(unready or {}),
    }


def scene_content(scene: StoryboardScene, sent: Mapping[str, Any] | None = None) -> dict[str, Any]:
    is_kept = bool(sent and scene.kept_at)
    entry: dict[str, Any] = {"scene": str(scene.pk)}
    for name in SCENE_FIELDS:
        kept = sent.get(name) if sent and is_kept else UNCONFIRMED_SETTING
        entry[name] = scene_value(scene, name) if kept == UNCONFIRMED_SETTING else kept
    return entry


def scene_value(scene: StoryboardScene, name: str) -> Any:
    """The value of a field as it is sent: a chained scene starts on another one's last frame."""
    return {} if name == "first_frame" and scene.is_chained else getattr(scene, name)


def drop_unused_fields(
    entry: dict[str, Any], taken_frames: Collection[str], *, is_first: bool
) -> None:
    """Leave out what the engine does not take, and the chain of the first scene."""
    unused = [name for name in FRAME_FIELDS if name not in taken_frames]
    if "first_frame" in unused or (is_first and entry["is_chained"]):
        unused.append("is_chained")
    entry.update({name: NO_VALUES[name] for name in unused}, unused=unused)


def scenes_by_id(content: CopyContent) -> dict[str, dict[str, Any]]:
    """The scenes of a copy by their id here."""
    return {scene["scene"]: scene for scene in content.get("scenes", ())}


def changed_fields(scene: StoryboardScene, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields of a scene that differ from what its clip was made of, also if it was kept."""
    unused, outdated = sent.get("unused", ()), sent.get("outdated", ())
    return tuple(
        name
        for name in SCENE_FIELDS
        if name in outdated or (name not in unused and scene_value(scene, name) != sent.get(name))
    )


def can_take(sent: CopyContent, wanted: CopyContent) -> bool:
    """Whether a copy of which `sent` is at the service can become `wanted`."""
    if not sent:
        return True  # nothing was sent yet
    if sent.get(UNUSABLE_KEY):
        return False
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
