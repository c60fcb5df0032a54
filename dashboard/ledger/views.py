"""The ledger page and its self-refreshing parts, the charts, one entry, the CSV export, and the
monthly report with its recipients."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.ledger import report_actions
from dashboard.ledger.forms import ReportRecipientsForm
from dashboard.ledger.queries.chart_page import load_ledger_charts
from dashboard.ledger.queries.csv_export import (
    build_export_source,
    export_csv_chunk,
    export_csv_header,
)
from dashboard.ledger.queries.entry import load_entry_page
from dashboard.ledger.queries.filters import LedgerFilters, parse_ledger_filters
from dashboard.ledger.queries.monthly_report import MonthlyReport
from dashboard.ledger.queries.page import (
    load_entries_section,
    load_ledger_page,
    load_totals_section,
)
from dashboard.ledger.queries.report_csv import render_report_csv, report_filename
from dashboard.ledger.queries.report_page import (
    load_report_members,
    load_report_of_month,
    load_report_page,
)
from dashboard.ledger.queries.scope import load_ledger_accounts
from dashboard.models import AuditAction
from dashboard.shared.access import check_permission, fetch_ledger_entry
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.dialogs import DialogView
from dashboard.shared.file_export import refuse_file
from dashboard.shared.http import TeamRequest
from dashboard.shared.lists import export_list, render_list
from dashboard.shared.query_params import unread_param_text
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell
from proxyapi.refusals import Refusal

LIST_TEMPLATE, REPORT_TEMPLATE = "ledger/list.html", "ledger/report.html"


@require_safe
@vary_on_headers("HX-Request")
def ledger(request: TeamRequest) -> HttpResponse:
    """The page; `?part=` returns one part, which refreshes when entries arrive."""
    check_permission(request.membership, Permission.VIEW)
    filters = parse_ledger_filters(request.GET.dict())
    if request.GET.get("part") == "totals":
        totals = load_totals_section(request.membership, filters)
        return render(request, "ledger/_totals.html", {"totals": totals})
    if request.GET.get("part") == "entries":
        entries = load_entries_section(request.membership, filters, parse_known_param(request))
        context = {"entries": entries, "list": entries["list"]}
        return render(request, "ledger/_entries.html", context)
    if request.htmx:
        context = load_ledger_page(request.membership, filters)
    else:  # the page and its shell use the same accounts
        shell = build_app_shell(request.membership, load_ledger_accounts(request.team.tenant))
        context = load_ledger_page(request.membership, filters, shell.accounts) | {"shell": shell}
    also = ("ledger/_actions.html", "ledger/_dates.html")
    return render_list(request, LIST_TEMPLATE, "ledger/list.html#body", context, *also)


def parse_known_param(request: TeamRequest) -> int | None:
    text = request.GET.get("known", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


@require_safe
def charts(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.VIEW)
    filters = parse_ledger_filters(request.GET.dict())
    context = {"charts": load_ledger_charts(request.membership, filters)}
    part = request.GET.get("part") == "charts"
    template = "ledger/_charts.html" if part else "ledger/charts.html"
    return render(request, template, context)


@require_safe
def entry(request: TeamRequest, account_id: UUID, position: int) -> HttpResponse:
    ledger_entry = fetch_ledger_entry(request, account_id, position)
    page = load_entry_page(request.membership, ledger_entry)
    return render(request, "ledger/entry.html", {"entry": page})


@require_safe
async def export_ledger(request: TeamRequest) -> HttpResponseBase:
    check_permission(request.membership, Permission.VIEW)
    query = request.GET.dict()
    filters = parse_ledger_filters(query)
    if problem := filters.dates.problem or unread_param_text(filters, query):
        return await sync_to_async(refuse_file)(request, problem)
    return await export_list(
        request,
        export_filename(filters),
        partial(build_export_source, request.team, filters),
        export_csv_header,
        export_csv_chunk,
        action=AuditAction.LEDGER_EXPORT,
    )


def export_filename(filters: LedgerFilters) -> str:
    first, separator, last = filters.period.partition("..")
    if first and last:
        first, last = sorted((first, last))  # as the period is read
    days = (
        f"{first}-to-{last}" if first and last else f"since-{first}" if first else f"until-{last}"
    )
    period = days if separator else first or "30-days"
    return f"ledger-{period}{'-filtered' if filters.is_narrowed else ''}.csv"


@require_safe
def report(request: TeamRequest) -> HttpResponse:
    """The monthly report; `?month=2026-11` selects the month, else the last one that ended."""
    check_permission(request.membership, Permission.VIEW)
    return render(request, REPORT_TEMPLATE, load_report_context(request))


def load_report_context(request: TeamRequest) -> dict[str, Any]:
    """The page and its shell use the same accounts."""
    shell = build_app_shell(request.membership, load_ledger_accounts(request.team.tenant))
    month = request.GET.get("month", "")
    return {**load_report_page(request.membership, shell.accounts, month), "shell": shell}


@require_safe
def export_report(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.VIEW)
    file = load_chosen_report(request)
    filename = report_filename(file)
    if request.method != "HEAD":
        record_audit_event(request.membership, AuditAction.LEDGER_EXPORT, filename)
    response = HttpResponse(render_report_csv(file), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def load_chosen_report(request: TeamRequest) -> MonthlyReport:
    accounts = tuple(load_ledger_accounts(request.team.tenant))
    return load_report_of_month(request.membership, accounts, request.GET.get("month", ""))


@require_POST
def send_report(request: TeamRequest) -> HttpResponse:
    """Send the report of `?month=` to the reader."""
    check_permission(request.membership, Permission.VIEW)
    monthly_report = load_chosen_report(request)
    try:
        report_actions.send_report_to_reader(by=request.membership, report=monthly_report)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, "The report is sent to you, as you chose under Notifications.")
    return redirect(f"{reverse('ledger-report')}?month={monthly_report.slug}")


class ReportRecipients(DialogView):
    """Choose who gets the monthly report."""

    template_name, page_template = "ledger/_report_recipients.html", REPORT_TEMPLATE
    back, refused_field = "ledger-report", None

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_MONEY)

    def build_form(self, data: Mapping[str, Any] | None = None) -> ReportRecipientsForm:
        return ReportRecipientsForm(load_report_members(self.by), data)

    def rebuild_form(self, form: ReportRecipientsForm) -> ReportRecipientsForm:
        return form.with_current_version(load_report_members(self.by))

    def save(self, form: ReportRecipientsForm) -> str:
        report_actions.set_report_recipients(
            by=self.by, chosen=form.cleaned_data["members"], drawn=form.cleaned_data["drawn"]
        )
        return "Recipients saved."

    def load_page(self) -> Mapping[str, Any]:
        return load_report_context(self.request)
