"""The overview page: credits, spend, running renders and what needs attention; or one part of
it."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from dashboard.overview.actions import hide_getting_started
from dashboard.overview.queries import PART_BUILDERS, build_overview
from dashboard.shared.access import check_permission
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.ledger_agreement import accounts_with_ledger
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell

PAGE_TEMPLATE = "overview/page.html"


@require_safe
def overview(request: TeamRequest) -> HttpResponse:
    """`?span=month` shows the current month; `?part=` returns one part, which replaces itself."""
    check_permission(request.membership, Permission.VIEW)
    part, span = request.GET.get("part", ""), request.GET.get("span", "")
    if part in PART_BUILDERS:
        context = PART_BUILDERS[part](request.membership, span)
        return render(request, f"overview/_{part}.html", {"overview": context})
    shell = build_app_shell(request.membership, accounts_with_ledger(request.team.tenant))
    overview = build_overview(request.membership, shell, span)
    return render(request, PAGE_TEMPLATE, {"overview": overview, "shell": shell})


@require_POST
def hide_first_steps(request: TeamRequest) -> HttpResponse:
    """Hide the card of the first steps for the reader."""
    check_permission(request.membership, Permission.VIEW)
    hide_getting_started(request.membership)
    return redirect_to(request, "overview")
