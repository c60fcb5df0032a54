"""The newest clips with their filters, as the page of clips shows and fetches them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import push_url

from dashboard.clips.queries import ClipFilters, load_clip_chips, load_recent_clips
from dashboard.shared.http import TeamRequest

RECENT_TEMPLATE = "clips/updated.html"
LIST_ID, FILTER_FORM_ID = "library", "clip-filters"


def is_recent_request(request: TeamRequest, part: str) -> bool:
    if not request.htmx or request.htmx.history_restore_request:
        return False
    return bool(part) or request.htmx.target == LIST_ID


def render_recent(request: TeamRequest, filters: ClipFilters, *, with_chips: bool) -> HttpResponse:
    """The filters are not drawn anew with each refresh: one of them may be open."""
    context = recent_context(request, filters) if with_chips else {}
    recent = context.get("recent") or load_recent_clips(request.membership, filters)
    values = {**context, "filters": filters, "recent": recent}
    response = render(request, RECENT_TEMPLATE, values)
    # Only a filter that a person chose changes the page's URL.
    is_chosen = request.htmx.trigger == FILTER_FORM_ID
    return push_url(response, filters.page_url) if is_chosen else response


def recent_context(request: TeamRequest, filters: ClipFilters) -> dict[str, Any]:
    return {
        "recent": load_recent_clips(request.membership, filters),
        "chips": load_clip_chips(request.membership, filters),
    }
