"""The ledger: its page and the parts of it that fetch themselves, its charts, one entry."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from dashboard.access import check, fetch_entry
from dashboard.http import TeamRequest
from dashboard.queries.ledger.entry import entry_of
from dashboard.queries.ledger.filters import filters_of
from dashboard.queries.ledger.overtime import charts_of
from dashboard.queries.ledger.page import entries_of, ledger_of, totals_of
from dashboard.queries.ledger.scope import ledgered
from dashboard.queries.shell import shell_of
from dashboard.roles import Permission

LIST = "dashboard/ledger/list.html"
FORM = "ledger-filters"


@require_safe
@vary_on_headers("HX-Request")
def ledger(request: TeamRequest) -> HttpResponse:
    """The page; `?part=` is one part of it, which fetches itself when entries came."""
    check(request.membership, Permission.SEE)
    filters = filters_of(request.GET.dict())
    if request.GET.get("part") == "totals":
        totals = totals_of(request.membership, filters)
        return render(request, "dashboard/ledger/_totals.html", {"totals": totals})
    if request.GET.get("part") == "entries":
        entries = entries_of(request.membership, filters, known_of(request))
        return render(request, "dashboard/ledger/_entries.html", {"entries": entries})
    if not request.htmx or request.htmx.history_restore_request:
        # The page and the shell around it tell of the same accounts.
        shell = shell_of(request.membership, ledgered(request.team.vault))
        page = ledger_of(request.membership, filters, shell.accounts)
        return render(request, LIST, {"ledger": page, "shell": shell})
    context = {"ledger": ledger_of(request.membership, filters)}
    answer = render(request, "dashboard/ledger/refreshed.html", context)
    return push_url(answer, filters.url()) if request.htmx.trigger == FORM else answer


def known_of(request: TeamRequest) -> int | None:
    text = request.GET.get("known", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


@require_safe
def charts(request: TeamRequest) -> HttpResponse:
    check(request.membership, Permission.SEE)
    filters = filters_of(request.GET.dict())
    context = {"charts": charts_of(request.membership, filters)}
    part = request.GET.get("part") == "charts"
    template = "dashboard/ledger/_charts.html" if part else "dashboard/ledger/charts.html"
    return render(request, template, context)


@require_safe
def entry(request: TeamRequest, account_id: UUID, position: int) -> HttpResponse:
    found = fetch_entry(request, account_id, position)
    return render(request, "dashboard/ledger/entry.html", {"entry": entry_of(found)})
