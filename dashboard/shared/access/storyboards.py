"""Fetch storyboards and their scenes."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404

from dashboard.shared.access.permissions import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.models import Storyboard, StoryboardScene


def fetch_storyboard(
    request: TeamRequest, storyboard_id: UUID, permission: Permission = Permission.VIEW
) -> Storyboard:
    storyboards = Storyboard.objects.filter(tenant=request.team.tenant, hidden_at=None)
    related = ("member", "account", "token__account", "copy__draft", "copy__account", "copy__token")
    storyboard = storyboards.select_related(*related).filter(pk=storyboard_id).first()
    if storyboard is None:
        raise Http404("This storyboard does not exist in this team.")
    check_permission(request.membership, permission)
    return storyboard


def find_storyboard(request: TeamRequest, storyboard_id: UUID) -> Storyboard | None:
    """Return the storyboard with the id of a form of a new one; None if it was not started."""
    check_permission(request.membership, Permission.RENDER)
    if not Storyboard.objects.filter(pk=storyboard_id).exists():
        return None
    return fetch_storyboard(request, storyboard_id, Permission.RENDER)


def fetch_deleted_storyboard(request: TeamRequest, storyboard_id: UUID) -> Storyboard:
    """Return a storyboard to restore; another member may have restored it already."""
    storyboard = Storyboard.objects.filter(tenant=request.team.tenant, pk=storyboard_id).first()
    if storyboard is None:
        raise Http404("This storyboard does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return storyboard


def fetch_scene(
    request: TeamRequest,
    storyboard_id: UUID,
    scene_id: UUID,
    permission: Permission = Permission.VIEW,
) -> tuple[Storyboard, StoryboardScene]:
    """Return a storyboard and one of its scenes; another member may have deleted the scene."""
    storyboard = fetch_storyboard(request, storyboard_id, permission)
    scene = storyboard.scenes.select_related("edited_by", "kept_by").filter(pk=scene_id).first()
    if scene is None:
        raise Http404("This scene does not exist any more.")
    return storyboard, scene
