"""The storyboard editor: the page, another scene in the panel, and what others changed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.presence import mark_presence
from dashboard.storyboards.queries import (
    Editor,
    build_film_bar,
    build_rail,
    load_clip_history,
    load_editor,
)
from dashboard.storyboards.readiness.film import load_readiness
from proxyapi.events import EventType, publish_event

PAGE_TEMPLATE, PICKED_TEMPLATE = "storyboards/page.html", "storyboards/_picked.html"
LIVE_TEMPLATE = "storyboards/_live.html"
UNCHANGED = 204


@require_safe
@vary_on_headers("HX-Request")
def storyboard(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Render the page, or for htmx the scene of `?scene=`; `?part=live`: what differs from the
    `version` that the page shows."""
    document = fetch_storyboard(request, storyboard_id)
    editor = load_editor(request.membership, document, parse_uuid(request.GET.get("scene", "")))
    is_fragment = request.htmx and not request.htmx.history_restore_request
    if is_fragment and request.GET.get("part") == "live":
        return render_live(request, editor)
    template = PICKED_TEMPLATE if is_fragment else PAGE_TEMPLATE
    return render(request, template, editor_context(request, editor))


def render_live(request: TeamRequest, editor: Editor) -> HttpResponse:
    """Answer 204 if the page shows everything; the panel is sent only if its values changed."""
    if request.GET.get("version") == editor.version:
        return HttpResponse(status=UNCHANGED)
    shown = editor.panel.versions if editor.panel else {}
    is_other = any(request.GET.get(f"{name}_seen") != version for name, version in shown.items())
    known = (request.GET.get("scene", ""), request.GET.get("editable", ""))
    is_other |= known != (editor.picked_id, str(editor.can_edit))
    context = editor_context(request, editor, is_other_panel=is_other)
    return render(request, LIVE_TEMPLATE, context)


def editor_context(request: TeamRequest, editor: Editor, **values: Any) -> dict[str, Any]:
    document, reader = editor.storyboard, request.membership
    scene = editor.panel.scene if editor.panel else None
    ready = load_readiness(document, editor.rows, editor.lock)
    return {
        "editor": editor,
        "film_bar": build_film_bar(document, editor.rows, reader, ready),
        "rail": build_rail(reader, document, editor.rows, ready=ready),
        "history": load_clip_history(document, scene) if scene else None,
        **values,
    }


@require_POST
def presence(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Mark the scene that the reader has in the panel; without `scene` the reader left."""
    document = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    scene_id = parse_uuid(request.POST.get("scene", ""))
    if mark_presence(document.pk, request.user, scene_id):
        publish_event(document.tenant_id, EventType.STORYBOARD, document.pk)
    return HttpResponse(status=UNCHANGED)
