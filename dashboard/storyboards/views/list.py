"""The team's storyboards, and what is done with one from there: duplicate, delete, restore."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.shared.access import fetch_deleted_storyboard, fetch_storyboard
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.storyboards.actions import storyboards as actions
from dashboard.storyboards.queries.deletion import build_deletion
from dashboard.storyboards.queries.list import load_storyboard_table, parse_storyboard_filters
from proxyapi.refusals import Refusal

LIST_TEMPLATE = "storyboards/list.html"
DELETION_TEMPLATE = "storyboards/_deletion.html"


@require_safe
def storyboards(request: TeamRequest) -> HttpResponse:
    filters = parse_storyboard_filters(request.GET.dict())
    table = load_storyboard_table(request.membership, filters)
    return render(request, LIST_TEMPLATE, {"table": table})


@require_POST
def duplicate(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    try:
        copy = actions.duplicate_storyboard(by=request.membership, storyboard=storyboard)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect(safe_return_path(request, request.headers.get("Referer", "")))
    messages.success(request, f"“{copy.title}” was added. Its scenes have no clips yet.")
    return redirect_to(request, "storyboard", copy.pk)


@allow_get_or_post
def delete(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Ask before a storyboard is deleted; POST deletes it, and the message undoes that."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    refusal = ""
    if request.method == "POST":
        try:
            actions.delete_storyboard(by=request.membership, storyboard=storyboard)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            undo_url = reverse("storyboard-restorations", args=[storyboard.pk])
            # The message stays until it is closed, because it contains the undo button.
            messages.info(request, f"“{storyboard.title}” is deleted.", extra_tags=undo_url)
            return redirect_to(request, "storyboards")
    context = {"deletion": build_deletion(storyboard), "refusal": refusal}
    if request.htmx:
        return render(request, DELETION_TEMPLATE, {**context, "fragment": True})
    table = load_storyboard_table(request.membership, parse_storyboard_filters({}))
    return render(request, LIST_TEMPLATE, {**context, "table": table, "dialog": DELETION_TEMPLATE})


@require_POST
def restore(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    storyboard = fetch_deleted_storyboard(request, storyboard_id)
    actions.restore_storyboard(by=request.membership, storyboard=storyboard)
    messages.success(request, f"“{storyboard.title}” is restored.")
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))
