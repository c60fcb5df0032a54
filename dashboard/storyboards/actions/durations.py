"""Set the durations that the engine does not make to the nearest that it makes, and undo that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.storyboards.scene_states import nearest_duration, storyboard_model
from dashboard.storyboards.actions.editing import edit_columns, lock_editable, publish_edit
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

ALL_OFFERED = "Every duration is offered already. Nothing was changed."


@dataclass(frozen=True, slots=True)
class DurationChange:
    scene_id: UUID
    old: int
    new: int

    @property
    def reversed(self) -> DurationChange:
        return DurationChange(self.scene_id, old=self.new, new=self.old)


@transaction.atomic
def set_nearest_durations(*, by: Membership, storyboard: Storyboard) -> list[DurationChange]:
    """Return what was changed. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    model = storyboard_model(storyboard)
    wanted = [
        DurationChange(scene.pk, scene.duration, nearest)
        for scene in storyboard.scenes.all()
        if (nearest := nearest_duration(model, scene.duration)) is not None
    ]
    if not wanted:
        raise NotReady(ALL_OFFERED)
    return save_durations(by, storyboard, wanted)


@transaction.atomic
def restore_durations(
    *, by: Membership, storyboard: Storyboard, changes: Iterable[DurationChange]
) -> list[DurationChange]:
    """Undo changes, but of no scene that got another duration since. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    return save_durations(by, storyboard, [change.reversed for change in changes])


def save_durations(
    by: Membership, storyboard: Storyboard, wanted: Iterable[DurationChange]
) -> list[DurationChange]:
    scenes = StoryboardScene.objects.filter(storyboard=storyboard)
    columns = edit_columns(by)
    done = [
        change
        for change in wanted
        if scenes.filter(pk=change.scene_id, duration=change.old).update(
            duration=change.new, **columns
        )
    ]
    if done:
        record_audit_event(by, AuditAction.DRAFT_SAVE, storyboard.pk, durations=len(done))
        publish_edit(storyboard)
    return done
