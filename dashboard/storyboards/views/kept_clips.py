"""The view that keeps the clip of a scene which changed after it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_scene
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from dashboard.storyboards.actions.kept_clips import keep_clip
from dashboard.storyboards.views.answers import return_to_editor
from proxyapi.refusals import Refusal

KEPT_TEXT = "The clip of scene {number} is kept."


@require_POST
def kept_clips(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Keep the clip of `scene`."""
    scene_id = parse_uuid(request.POST.get("scene", ""))
    if scene_id is None:
        raise Http404("This form has no scene.")
    storyboard, scene = fetch_scene(request, storyboard_id, scene_id, Permission.RENDER)
    try:
        number = keep_clip(by=request.membership, storyboard=storyboard, scene=scene)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, KEPT_TEXT.format(number=number))
    return return_to_editor(request, storyboard)
