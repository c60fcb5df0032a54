"""Add new scenes to a copy of a storyboard at the service, once.

The service has no call to delete a scene, so none is sent twice: after a lost answer, and in a
database that was restored, they are read back and matched by position and content. Those that did
not arrive are sent again when the lost request can no longer be carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NoReturn

from django.conf import settings
from django.utils import timezone

from proxyapi.kinds import storyboard_record
from proxyapi.kinds.storyboard_copy import NO_VALUES, CopyContent, scenes_by_id
from proxyapi.kinds.storyboard_requests import (
    SCENES,
    CopySync,
    Record,
    SceneIdsUnknown,
    ScenesDelayed,
    UnknownScenes,
    mark_unusable,
    name_scene,
)
from proxyapi.operations import get_operation
from proxyapi.upstream import errors

# After a lost answer, in multiples of `CHARGE_RETRY_INTERVAL_S`: 90 s. Until then the request may
# still be carried out, and its scenes would be there twice.
SCENES_RETRY_FACTOR = 9


def send_new_scenes(sync: CopySync, *, is_new: bool) -> None:
    """Add the scenes that were not sent, in one request. Those whose answer was lost, and those
    that a restored database has forgotten, are recognized first."""
    if not (unidentified_scenes(sync.sent) or unsent_scenes(sync)):
        return
    if not is_new:
        recognize_scenes(sync, sync.read())
        drop_lost_scenes(sync)
    new = unsent_scenes(sync)
    if not new:
        return
    body = [{"raw_video_prompt": scene["prompt"], "duration": scene["duration"]} for scene in new]
    try:
        reply = sync.send_to_copy(
            SCENES, before=lambda: mark_requested(sync, new), json={"scenes": body}
        )
    except errors.UpstreamError as error:
        if error.outcome is not errors.ErrorOutcome.UNKNOWN:
            forget_requested(sync)
        raise explain_refusal(sync, error, new) from None
    answered = storyboard_record.storyboard_in(reply.data)
    shown = storyboard_record.scene_records(answered)
    recognize_scenes(sync, answered if shown else sync.read(), is_answered=True)


def awaited_scenes(sent: CopyContent) -> list[dict[str, Any]]:
    """The scenes whose request has no answer."""
    return [scene for scene in sent.get("scenes", ()) if scene.get("requested_at")]


def unidentified_scenes(sent: CopyContent) -> list[dict[str, Any]]:
    """The scenes that were requested, of which the service has not shown the id."""
    return [scene for scene in sent.get("scenes", ()) if scene.get("remote_id") is None]


def unsent_scenes(sync: CopySync) -> list[dict[str, Any]]:
    known, unready = scenes_by_id(sync.sent), sync.wanted.get("unready", {})
    scenes = sync.wanted.get("scenes", ())
    return [one for one in scenes if one["scene"] not in known and one["scene"] not in unready]


def sent_scene(scene: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A scene as it is right after it was added: without frames and chain."""
    return {**scene, **NO_VALUES, "remote_id": None, **fields}


def mark_requested(sync: CopySync, new: list[dict[str, Any]]) -> None:
    now = timezone.now().isoformat()
    sync.sent["scenes"] = [
        *sync.sent.get("scenes", ()),
        *(sent_scene(scene, requested_at=now) for scene in new),
    ]
    sync.save()


def forget_requested(sync: CopySync) -> None:
    scenes = sync.sent.get("scenes", ())
    sync.sent["scenes"] = [scene for scene in scenes if not scene.get("requested_at")]
    sync.save()


def recognize_scenes(sync: CopySync, record: Record, *, is_answered: bool = False) -> None:
    """Match the scenes of the record that have no scene here with those that were requested, and
    then with those that were not sent, in their order.

    `is_answered`: the request was carried out, so its scenes are there even if the record does not
    show them. Raises `UnknownScenes`, or `SceneIdsUnknown` if a lost answer cannot be read back.
    """
    shown = storyboard_record.scene_records(record)
    if shown is None and awaited_scenes(sync.sent) and not is_answered:
        raise SceneIdsUnknown(get_operation(SCENES))
    known = known_ids(sync)
    new_rows = [row for row in shown or () if str(row["id"]) not in known]
    candidates = [*unidentified_scenes(sync.sent), *unsent_scenes(sync)]
    if len(new_rows) > len(candidates):
        refuse_unknown_scenes(sync)
    for entry, row in zip(candidates, new_rows, strict=False):
        if not is_same_scene(entry, row):
            refuse_unknown_scenes(sync)
        if "remote_id" in entry:
            entry["remote_id"] = row["id"]
            entry.pop("requested_at", None)
        else:
            scenes = sync.sent.get("scenes", ())
            sync.sent["scenes"] = [*scenes, sent_scene(entry, remote_id=row["id"])]
    for entry in awaited_scenes(sync.sent) if is_answered else ():
        entry.pop("requested_at")
    sync.save()


def known_ids(sync: CopySync) -> set[str]:
    ids = (scene.get("remote_id") for scene in sync.sent.get("scenes", ()))
    return {str(id) for id in ids if id is not None}


def is_same_scene(entry: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether the record shows this scene; a field that it does not show is no difference."""
    shown = (storyboard_record.scene_prompt(row), storyboard_record.scene_duration(row))
    wanted = (" ".join(entry["prompt"].split()), entry["duration"])
    pairs = zip((" ".join(shown[0].split()), shown[1]), wanted, strict=True)
    return all(value in ("", None, other) for value, other in pairs)


def refuse_unknown_scenes(sync: CopySync) -> NoReturn:
    mark_unusable(sync)
    raise UnknownScenes(get_operation(SCENES))


def check_no_unknown_scenes(sync: CopySync, record: Record) -> None:
    shown, known = storyboard_record.scene_records(record) or (), known_ids(sync)
    if any(scene.get("remote_id") is None for scene in sync.sent.get("scenes", ())):
        return  # their ids are not known
    if any(str(row["id"]) not in known for row in shown):
        refuse_unknown_scenes(sync)


def drop_lost_scenes(sync: CopySync) -> None:
    """Scenes whose request did not arrive are sent again when it can no longer be carried out."""
    awaited = awaited_scenes(sync.sent)
    if not awaited:
        return
    requested_at = max(datetime.fromisoformat(scene["requested_at"]) for scene in awaited)
    wait = SCENES_RETRY_FACTOR * timedelta(seconds=settings.CHARGE_RETRY_INTERVAL_S)
    age = timezone.now() - requested_at
    if timedelta(0) <= age < wait:
        raise ScenesDelayed((wait - age).total_seconds())
    forget_requested(sync)


def explain_refusal(
    sync: CopySync, error: errors.UpstreamError, new: list[dict[str, Any]]
) -> errors.UpstreamError:
    """The error, with the number of the scene whose field the service does not accept."""
    name = next(iter(error.fields), "")
    words = name.split(".")
    if len(words) != 3 or not words[1].isdecimal() or int(words[1]) >= len(new):
        return error
    numbers = {one["scene"]: place for place, one in enumerate(sync.wanted["scenes"], start=1)}
    field = "prompt" if "prompt" in words[2] else words[2]
    return name_scene(error, numbers[new[int(words[1])]["scene"]], field)
