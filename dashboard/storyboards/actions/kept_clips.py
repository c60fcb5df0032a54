"""Keep the clip of a scene that changed after it: the scene stays as it was sent."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.storyboards.actions.editing import publish_edit
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import NotReady

NOT_CHANGED = "Only the clip of a scene that changed after it can be kept. Nothing was changed."
CANNOT_KEEP = (
    "Only the clip of a scene that changed after it can be kept, as long as the engine and the "
    "format are those it was made with. Nothing was changed."
)
CHANGED_MEANWHILE = "This scene was changed meanwhile. Look at it again. Nothing was changed."


@transaction.atomic
def keep_clip(*, by: Membership, storyboard: Storyboard, scene: StoryboardScene) -> int:
    """Record who decided, and return the scene's number; the next change of the scene ends it.
    Raises `NotReady`."""
    check_permission(by, Permission.RENDER)
    row = next((it for it in load_scene_rows(storyboard) if it.scene.pk == scene.pk), None)
    if row is None or not row.can_keep_clip:
        raise NotReady(NOT_CHANGED if row is None or not row.clip else CANNOT_KEEP)
    same = StoryboardScene.objects.filter(pk=scene.pk, edited_at=row.scene.edited_at)
    if not same.update(kept_at=timezone.now(), kept_by=by.user):
        raise NotReady(CHANGED_MEANWHILE)
    record_audit_event(by, AuditAction.DRAFT_SAVE, storyboard.pk, kept_clip_of=row.number)
    publish_edit(storyboard)
    return row.number
