"""The ledger: its page and the parts of it that fetch themselves, its charts, one entry."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from dashboard.ledger.queries.chart_page import build_ledger_charts_page
from dashboard.ledger.queries.entry import build_entry_page
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import (
    build_ledger_page,
    load_entries_section,
    load_totals_section,
)
from dashboard.ledger.queries.scope import load_ledger_accounts
from dashboard.shared.access import check_permission, fetch_ledger_entry
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell

LIST_TEMPLATE = "ledger/list.html"
FILTER_FORM_ID = "ledger-filters"


@require_safe
@vary_on_headers("HX-Request")
def ledger(request: TeamRequest) -> HttpResponse:
    """The page; `?part=` is one part of it, which fetches itself when entries came."""
    check_permission(request.membership, Permission.VIEW)
    filters = parse_ledger_filters(request.GET.dict())
    if request.GET.get("part") == "totals":
        totals = load_totals_section(request.membership, filters)
        return render(request, "ledger/_totals.html", {"totals": totals})
    if request.GET.get("part") == "entries":
        entries = load_entries_section(request.membership, filters, parse_known_param(request))
        return render(request, "ledger/_entries.html", {"entries": entries})
    if not request.htmx or request.htmx.history_restore_request:
        # The page and the shell around it tell of the same accounts.
        shell = build_app_shell(request.membership, load_ledger_accounts(request.team.tenant))
        page = build_ledger_page(request.membership, filters, shell.accounts)
        return render(request, LIST_TEMPLATE, {"ledger": page, "shell": shell})
    context = {"ledger": build_ledger_page(request.membership, filters)}
    answer = render(request, "ledger/updated.html", context)
    return push_url(answer, filters.url()) if request.htmx.trigger == FILTER_FORM_ID else answer


def parse_known_param(request: TeamRequest) -> int | None:
    text = request.GET.get("known", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


@require_safe
def charts(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.VIEW)
    filters = parse_ledger_filters(request.GET.dict())
    context = {"charts": build_ledger_charts_page(request.membership, filters)}
    part = request.GET.get("part") == "charts"
    template = "ledger/_charts.html" if part else "ledger/charts.html"
    return render(request, template, context)


@require_safe
def entry(request: TeamRequest, account_id: UUID, position: int) -> HttpResponse:
    found = fetch_ledger_entry(request, account_id, position)
    return render(request, "ledger/entry.html", {"entry": build_entry_page(found)})
