"""The page of ideas, its parts, and a search."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.ideas import actions
from dashboard.ideas.forms import IdeaSearchForm
from dashboard.ideas.queries import (
    IdeaFilters,
    load_idea_list,
    load_idea_overview,
    load_search_check,
    load_searches,
)
from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.lists import render_list
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, LIST_TEMPLATE = "ideas/page.html", "ideas/_list.html"
SEARCHES_TEMPLATE, CHECK_TEMPLATE = "ideas/_searches.html", "ideas/_check.html"
ROWS_ID = "idea-rows"
INVALID_FORM_STATUS = 422
LIST_REQUESTED = "The service’s list is read again. Nothing is charged."
APPROVAL_REQUESTED = "The approval was requested. Nothing was sent yet."


@require_safe
@vary_on_headers("HX-Request")
def ideas(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the list alone."""
    filters = IdeaFilters.parse(request.GET.dict())
    if not request.htmx or request.htmx.history_restore_request:
        return render_ideas(request, filters)
    overview = load_idea_overview(request.membership)
    is_appended = request.htmx.target == ROWS_ID
    context = load_idea_list(request.membership, filters, overview, is_appended=is_appended)
    return render_list(request, PAGE_TEMPLATE, LIST_TEMPLATE, context)


def render_ideas(
    request: TeamRequest, filters: IdeaFilters, form: IdeaSearchForm | None = None
) -> HttpResponse:
    """Render the page; a refused or invalid form keeps its input."""
    reader = request.membership
    overview = load_idea_overview(reader)
    context: dict[str, Any] = {
        "overview": overview,
        **load_idea_list(reader, filters, overview),
        "searches": load_searches(reader),
    }
    if has_permission(reader, Permission.RENDER):
        context["form"] = form or IdeaSearchForm(overview.offered_networks)
        context["check"] = load_search_check(reader, *(form.words if form else ()))
    if request.method == "GET" and any(row["is_new"] for row in context["ideas"]):
        actions.mark_ideas_seen(by=reader)
    status = INVALID_FORM_STATUS if form else 200
    return render(request, PAGE_TEMPLATE, context, status=status)


@allow_get_or_post
def searches(request: TeamRequest) -> HttpResponse:
    """The running and latest searches; POST starts one, once for each rendered form."""
    if request.method != "POST":
        if not request.htmx:
            return redirect("ideas")
        return render(request, SEARCHES_TEMPLATE, {"searches": load_searches(request.membership)})
    check_permission(request.membership, Permission.RENDER)
    form = IdeaSearchForm(load_idea_overview(request.membership).offered_networks, request.POST)
    if form.is_valid():
        keyword, network = form.words
        try:
            actions.search_ideas(
                by=request.membership, keyword=keyword, network=network, **form.charge_arguments()
            )
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            if "ask" in request.POST:
                messages.success(request, APPROVAL_REQUESTED)
            return redirect("ideas")
    return render_ideas(request, IdeaFilters(), form)


@require_safe
def check_search(request: TeamRequest) -> HttpResponse:
    """What is known of the typed words; nothing is sent."""
    check_permission(request.membership, Permission.RENDER)
    form = IdeaSearchForm(load_idea_overview(request.membership).offered_networks, request.GET)
    check = load_search_check(request.membership, *form.words)
    return render(request, CHECK_TEMPLATE, {"check": check})


@require_POST
def refresh_list(request: TeamRequest) -> HttpResponse:
    """Have the free list read again, and show the ideas of the posted filters."""
    check_permission(request.membership, Permission.RECHECK)
    try:
        actions.request_list(by=request.membership)
        messages.info(request, LIST_REQUESTED)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return redirect(f"{IdeaFilters.parse(request.POST.dict()).url()}#ideas")
