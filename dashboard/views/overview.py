"""The overview of the team's credits, renders and open questions; each part of it alone, too."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.access import check
from dashboard.http import TeamRequest
from dashboard.queries.overview import PARTS, overview_of
from dashboard.queries.overview.credits import ledgered
from dashboard.queries.shell import shell_of
from dashboard.roles import Permission

PAGE = "dashboard/overview/page.html"


@require_safe
def overview(request: TeamRequest) -> HttpResponse:
    """`?span=month` looks back on this month; `?part=` answers one part, for its own place."""
    check(request.membership, Permission.SEE)
    part, span = request.GET.get("part", ""), request.GET.get("span", "")
    if part in PARTS:
        context = PARTS[part](request.membership, span)
        return render(request, f"dashboard/overview/_{part}.html", {"overview": context})
    shell = shell_of(request.membership, ledgered(request.team.vault))
    overview = overview_of(request.membership, shell, span)
    return render(request, PAGE, {"overview": overview, "shell": shell})
