"""Save the fields of a scene: each in an UPDATE of its own column, and only over the value that its
form was built from, so that two members never overwrite each other."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from dashboard.models import Membership
from dashboard.shared.storyboards.scene_edits import (
    FieldConflict,
    SavedFields,
    SceneFieldChange,
    field_version,
)
from dashboard.storyboards.actions.editing import check_editable, edit_columns, publish_edit
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

FIRST_SCENE_CHAIN = "Scene 1 starts the film, so it cannot continue from another scene."


@transaction.atomic
def save_scene_fields(
    *,
    by: Membership,
    storyboard: Storyboard,
    scene: StoryboardScene,
    changes: Iterable[SceneFieldChange],
) -> SavedFields:
    """Save each change whose field still has the value that its form was built from.

    Costs nothing, and the prompt is saved at each pause in typing, so no audit row is written: the
    scene has who edited it last. Raises `Refusal`.
    """
    check_editable(by, storyboard)
    saved, conflicts = [], []
    for change in changes:
        if getattr(scene, change.name) == change.value:
            continue
        if write_field(by, scene, change):
            saved.append(change.name)
        else:
            conflicts.append(find_conflict(by, scene, change))
    if saved:
        publish_edit(storyboard)
    return SavedFields(tuple(saved), tuple(conflicts))


def write_field(by: Membership, scene: StoryboardScene, change: SceneFieldChange) -> bool:
    """Return False if the field has another value than the form was built from."""
    current = getattr(scene, change.name)
    if change.name == "is_chained" and change.value and scene.position == first_position(scene):
        raise NotReady(FIRST_SCENE_CHAIN, change.name)
    if change.seen and change.seen != field_version(current):
        return False
    columns = {change.name: change.value, **edit_columns(by)}
    same = StoryboardScene.objects.filter(pk=scene.pk, **{change.name: current})
    if not same.update(**columns):
        scene.refresh_from_db()
        return False
    for name, value in columns.items():
        setattr(scene, name, value)
    return True


def first_position(scene: StoryboardScene) -> int | None:
    scenes = StoryboardScene.objects.filter(storyboard=scene.storyboard_id)
    return scenes.values_list("position", flat=True).first()


def find_conflict(
    by: Membership, scene: StoryboardScene, change: SceneFieldChange
) -> FieldConflict:
    editor = scene.edited_by
    is_other = editor is not None and editor.pk != by.user_id
    name = editor.first_name if editor is not None and is_other else None
    return FieldConflict(change.name, name, scene.edited_at)
