"""The first and last frame of a scene: its picture, the dialogs that take one, upload, removal."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from dashboard.shared.access import check_permission, fetch_scene
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.shared.videos.frame_sources import load_frame_sources
from dashboard.storyboards import actions
from dashboard.storyboards.forms import FrameForm
from dashboard.storyboards.queries import build_scene_sources, find_frame_file, load_editor
from dashboard.storyboards.views.editor import PAGE_TEMPLATE, editor_context
from dashboard.storyboards.views.scenes import INVALID_FORM_STATUS, SAVED_TEMPLATE, page_of
from proxyapi import stored_files
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.refusals import Refusal

SOURCES_TEMPLATE = "storyboards/_frame_sources.html"


@allow_get_or_post
def frame(request: TeamRequest, storyboard_id: UUID, scene_id: UUID, name: str) -> HttpResponse:
    """Return the picture; `?from=scenes` or `library` the dialog that takes one. POST keeps the
    posted picture, or removes it."""
    if name not in actions.FRAME_NAMES:
        raise Http404("There is no such frame.")
    document, scene = fetch_scene(request, storyboard_id, scene_id)
    if request.method == "POST":
        check_permission(request.membership, Permission.RENDER)
        return save_frame(request, document, scene, name)
    if request.GET.get("from") in ("scenes", "library"):
        check_permission(request.membership, Permission.RENDER)
        return render_sources(request, document, scene, name)
    file = find_frame_file(scene, name)
    if file is None:
        raise Http404("This scene has no such picture.")
    response = HttpResponse(stored_files.read_stored_file(file), content_type=file.content_type)
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


def render_sources(
    request: TeamRequest, document: Storyboard, scene: StoryboardScene, name: str
) -> HttpResponse:
    from_scenes = request.GET["from"] == "scenes"
    context = {
        "sources": build_scene_sources(load_scene_rows(document), scene)
        if from_scenes
        else load_frame_sources(request.membership),
        "from_scenes": from_scenes,
        "slot": name,
        "back_url": page_of(document.pk, scene.pk),
    }
    if request.htmx:
        return render(request, SOURCES_TEMPLATE, {**context, "fragment": True})
    editor = load_editor(request.membership, document, scene.pk)
    page = editor_context(request, editor, dialog=SOURCES_TEMPLATE)
    return render(request, PAGE_TEMPLATE, page | context)


def save_frame(
    request: TeamRequest, document: Storyboard, scene: StoryboardScene, name: str
) -> HttpResponse:
    form, refusal = FrameForm(name, request.POST, request.FILES), ""
    if not form.is_valid():
        refusal = form.first_error()
    else:
        chosen = form.cleaned_data
        try:
            actions.set_scene_frame(
                by=request.membership,
                storyboard=document,
                scene=scene,
                name=name,
                picture=None if chosen.get("removal") else chosen["picture"],
                origin=chosen.get("origin", ""),
            )
        except Refusal as refused:
            refusal = refused.sentence
    if not request.htmx and not refusal:
        return redirect(page_of(document.pk, scene.pk))
    editor = load_editor(request.membership, document, scene.pk)
    number = editor.panel.number if editor.panel else 1
    context = editor_context(
        request,
        editor,
        slot_error_name=name if refusal else "",
        slot_error=refusal,
        tile=editor.tiles[number - 1],
        with_take=True,
        with_slots=True,
    )
    if request.htmx:
        return render(request, SAVED_TEMPLATE, context)
    return render(request, PAGE_TEMPLATE, context, status=INVALID_FORM_STATUS)
