"""Add, duplicate, move and delete scenes. Costs nothing, and each of them can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.storyboards.scene_edits import SceneChange, Snapshot
from dashboard.shared.storyboards.scene_states import nearest_duration, storyboard_model
from dashboard.storyboards.actions.editing import edit_columns, lock_editable, publish_edit
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

MAX_SCENES = 200  # ours, against mistakes; the service states none
DEFAULT_DURATION_S = 5
TOO_MANY_SCENES = f"A storyboard has at most {MAX_SCENES} scenes. Nothing was added."
SCENE_GONE = "This scene was deleted meanwhile. Nothing was changed."
KEPT_COLUMNS = ("prompt", "duration", "is_chained", "first_frame", "last_frame", "kept_by_id")


@transaction.atomic
def add_scene(
    *, by: Membership, storyboard: Storyboard, before: StoryboardScene | None = None
) -> SceneChange:
    """Add an empty scene before another one, or at the end. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    scenes = list(storyboard.scenes.all())
    place = find_place(scenes, before) if before else len(scenes)
    nearby = scenes[place - 1] if place else before
    duration = nearby.duration if nearby else DEFAULT_DURATION_S
    nearest = nearest_duration(storyboard_model(storyboard), duration)
    scene = StoryboardScene(storyboard=storyboard, duration=nearest or duration)
    return insert_scene(by, storyboard, scenes, place, scene)


@transaction.atomic
def duplicate_scene(
    *, by: Membership, storyboard: Storyboard, scene: StoryboardScene
) -> SceneChange:
    """Add a scene like this one after it, without its clip and its chain. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    scenes = list(storyboard.scenes.all())
    place = find_place(scenes, scene)
    copied = ("prompt", "duration", "first_frame", "last_frame")
    values = {name: getattr(scenes[place], name) for name in copied}
    added = StoryboardScene(storyboard=storyboard, **values)
    return insert_scene(by, storyboard, scenes, place + 1, added)


def insert_scene(
    by: Membership,
    storyboard: Storyboard,
    scenes: list[StoryboardScene],
    place: int,
    scene: StoryboardScene,
) -> SceneChange:
    if len(scenes) >= MAX_SCENES:
        raise NotReady(TOO_MANY_SCENES)
    scene.position, scene.edited_by = place + 1, by.user
    snapshot = take_snapshot(storyboard, scenes)
    scene.save(force_insert=True)
    wanted = [*scenes[:place], scene, *scenes[place:]]
    unchained = save_order(by, scenes, wanted)
    finish_change(by, storyboard, added=place + 1)
    return SceneChange(scene, place + 1, place + 1, len(wanted), unchained, snapshot)


@transaction.atomic
def move_scene(
    *, by: Membership, storyboard: Storyboard, scene: StoryboardScene, number: int
) -> SceneChange:
    """Move a scene to this place, from 1; one beyond an end is the end. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    scenes = list(storyboard.scenes.all())
    old_place = find_place(scenes, scene)
    place = min(max(number, 1), len(scenes)) - 1
    moved = scenes[old_place]
    others = [one for one in scenes if one.pk != moved.pk]
    snapshot = take_snapshot(storyboard, scenes)
    unchained: tuple[int, ...] = ()
    if place != old_place:
        unchained = save_order(by, scenes, [*others[:place], moved, *others[place:]])
        finish_change(by, storyboard, moved=[old_place + 1, place + 1])
    return SceneChange(moved, place + 1, old_place + 1, len(scenes), unchained, snapshot)


@transaction.atomic
def delete_scene(*, by: Membership, storyboard: Storyboard, scene: StoryboardScene) -> SceneChange:
    """Delete a scene; its clips stay. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    scenes = list(storyboard.scenes.all())
    place = find_place(scenes, scene)
    gone = scenes[place]
    snapshot = take_snapshot(storyboard, scenes, gone)
    wanted = [one for one in scenes if one.pk != gone.pk]
    StoryboardScene.objects.filter(pk=gone.pk).delete()
    unchained = save_order(by, scenes, wanted)
    finish_change(by, storyboard, deleted=place + 1)
    return SceneChange(gone, 0, place + 1, len(wanted), unchained, snapshot)


@transaction.atomic
def restore_scenes(*, by: Membership, storyboard: Storyboard, snapshot: Snapshot) -> None:
    """Put the scenes in the order of a snapshot again, chained as then, and bring a deleted one
    back under its id, so that it has its clip again. Scenes that were added since come last.
    Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    scenes = list(storyboard.scenes.all())
    known = {str(scene.pk): scene for scene in scenes}
    if (gone := snapshot.get("deleted")) and gone["id"] not in known:
        kept_at = gone.get("kept_at")
        scene = StoryboardScene(
            pk=UUID(gone["id"]),
            storyboard=storyboard,
            position=len(scenes) + 1,
            kept_at=datetime.fromisoformat(kept_at) if kept_at else None,
            edited_by=by.user,
            **{name: gone[name] for name in KEPT_COLUMNS},
        )
        scene.save(force_insert=True)
        known[gone["id"]] = scene
    listed = [known[id] for id in snapshot["order"] if id in known]
    wanted = [*listed, *(one for one in scenes if str(one.pk) not in snapshot["order"])]
    chained = set(snapshot["chained"])
    save_order(by, wanted, wanted)
    for number, scene in enumerate(wanted):
        if number and not scene.is_chained and str(scene.pk) in chained:
            StoryboardScene.objects.filter(pk=scene.pk).update(is_chained=True)
    finish_change(by, storyboard, restored=True)


def find_place(scenes: Sequence[StoryboardScene], scene: StoryboardScene) -> int:
    """Raises `NotReady` if the scene was deleted meanwhile."""
    place = next((place for place, one in enumerate(scenes) if one.pk == scene.pk), None)
    if place is None:
        raise NotReady(SCENE_GONE)
    return place


def save_order(
    by: Membership, scenes: Sequence[StoryboardScene], wanted: Sequence[StoryboardScene]
) -> tuple[int, ...]:
    """Save the places; a chained scene that is after another one than before is unchained. Return
    the numbers, among `scenes`, of those."""
    before = {one.pk: scenes[at - 1].pk if at else None for at, one in enumerate(scenes)}
    after = {one.pk: wanted[at - 1].pk if at else None for at, one in enumerate(wanted)}
    for number, scene in enumerate(wanted, start=1):
        if scene.position != number:
            StoryboardScene.objects.filter(pk=scene.pk).update(position=number)
            scene.position = number
    parted = [
        (number, one)
        for number, one in enumerate(scenes, start=1)
        if one.is_chained and one.pk in after and after[one.pk] != before[one.pk]
    ]
    for _, scene in parted:
        scene.is_chained = False
        columns = edit_columns(by)
        StoryboardScene.objects.filter(pk=scene.pk).update(is_chained=False, **columns)
    return tuple(number for number, _ in parted)


def take_snapshot(
    storyboard: Storyboard, scenes: Sequence[StoryboardScene], gone: StoryboardScene | None = None
) -> Snapshot:
    """What `restore_scenes` needs, as plain values that a session can hold."""
    snapshot: Snapshot = {
        "storyboard": str(storyboard.pk),
        "order": [str(scene.pk) for scene in scenes],
        "chained": [str(scene.pk) for scene in scenes if scene.is_chained],
    }
    if gone is not None:
        kept_at = gone.kept_at.isoformat() if gone.kept_at else None
        values = {name: getattr(gone, name) for name in KEPT_COLUMNS}
        snapshot["deleted"] = {"id": str(gone.pk), "kept_at": kept_at, **values}
    return snapshot


def finish_change(by: Membership, storyboard: Storyboard, **details: Any) -> None:
    publish_edit(storyboard)
    record_audit_event(by, AuditAction.DRAFT_SAVE, storyboard.pk, **details)
