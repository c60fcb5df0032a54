"""What every change of a storyboard does: check that it may be changed, and tell open pages."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import check_permission
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.rendering import load_storyboard_lock
from proxyapi.events import EventType, publish_event
from proxyapi.models import Storyboard
from proxyapi.refusals import NotReady

HIDDEN_TEXT = "This storyboard was deleted. Restore it to go on."


def check_editable(by: Membership, storyboard: Storyboard) -> None:
    """Raise `PermissionDenied`, or `NotReady` while the scenes must stay as they are."""
    check_permission(by, Permission.RENDER)
    if storyboard.hidden_at is not None:
        raise NotReady(HIDDEN_TEXT)
    if text := load_storyboard_lock(storyboard).text:
        raise NotReady(f"{text} Nothing was changed.")


def lock_editable(by: Membership, storyboard: Storyboard) -> Storyboard:
    """Lock a storyboard while its scenes are counted, as `check_editable`."""
    locked = Storyboard.objects.select_for_update(of=("self",)).select_related("copy", "account")
    storyboard = locked.get(pk=storyboard.pk)
    check_editable(by, storyboard)
    return storyboard


def edit_columns(by: Membership) -> dict[str, Any]:
    """The columns that every change of a scene sets. A clip that was kept is kept as the scene
    was then, so a change ends that."""
    return {
        "edited_at": timezone.now(),
        "edited_by": by.user,
        "kept_at": None,
        "kept_by": None,
    }


def publish_edit(storyboard: Storyboard) -> None:
    """Record when the storyboard was edited, and have open pages read it again."""
    Storyboard.objects.filter(pk=storyboard.pk).update(edited_at=timezone.now())
    publish_event(storyboard.tenant_id, EventType.STORYBOARD, storyboard.pk)
