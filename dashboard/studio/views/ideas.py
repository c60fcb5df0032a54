"""New drafts from ideas that are selected on their page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_ideas
from dashboard.shared.http import TeamRequest
from dashboard.studio.flows import flow_of
from dashboard.studio.idea_actions import start_idea_drafts
from proxyapi.refusals import Refusal

NOTHING_SELECTED = "Select an idea first."
DRAFTS_MADE = "{count} drafts were made, each with its idea as the topic. Nothing was charged."


@require_POST
def make_idea_drafts(request: TeamRequest) -> HttpResponse:
    """Make a draft of each posted idea; of a single one the script is next."""
    ideas = fetch_ideas(request)
    if not ideas:
        messages.error(request, NOTHING_SELECTED)
        return redirect("ideas")
    try:
        jobs = start_idea_drafts(by=request.membership, ideas=ideas)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("ideas")
    if len(jobs) > 1:
        messages.success(request, DRAFTS_MADE.format(count=len(jobs)))
        return redirect("drafts")
    return redirect("studio-step", jobs[0].pk, flow_of(jobs[0]).script_slug)
