"""The page of the monthly report, and which month it shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from django.http import Http404
from django.urls import reverse

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.monthly_report import (
    MonthlyReport,
    default_report_month,
    load_monthly_report,
    report_months,
)
from dashboard.ledger.queries.page import build_ledger_notices
from dashboard.ledger.queries.scope import build_ledger_scope
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.filter_chips import ChipOption, FilterChip
from dashboard.shared.roles import Permission
from proxyapi.models import Account

NO_SUCH_MONTH = "There is no report for this month: the team’s ledger has none, or it is to come."


def load_report_page(
    reader: Membership, accounts: Sequence[Account], month_text: str
) -> dict[str, Any]:
    """Nine queries. `accounts` are those of `load_ledger_accounts`. Raises `Http404`."""
    scope = build_ledger_scope(reader.team, LedgerFilters(), accounts)
    months = report_months(scope.first_day, scope.today)
    month = choose_report_month(months, month_text)
    options = tuple(
        ChipOption(f"{option:%Y-%m}", month_label(option, scope.today), option == month)
        for option in months
    )
    return {
        "report": load_monthly_report(reader.team, accounts, month),
        "month_chip": FilterChip(
            "month", "Month", month_label(month, scope.today), options, "", plain=True
        ),
        "banners": build_ledger_notices(scope),
        "zone": scope.zone.key.replace("_", " "),
        "has_entries": scope.first_day is not None,
        "recipients": [
            str(member.user)
            for member in load_report_members(reader)
            if member.monthly_report_since
        ],
        "may_edit": has_permission(reader, Permission.MANAGE_MONEY),
        "export_url": f"{reverse('ledger-report-export')}?month={month:%Y-%m}",
    }


def load_report_members(reader: Membership) -> list[Membership]:
    """The members who can get the report, in the order of joining: all may see what is spent."""
    members = reader.team.memberships.filter(user__is_active=True)
    return list(members.select_related("user"))


def load_report_of_month(
    reader: Membership, accounts: Sequence[Account], month_text: str
) -> MonthlyReport:
    """The report alone. Raises `Http404`."""
    scope = build_ledger_scope(reader.team, LedgerFilters(), accounts)
    months = report_months(scope.first_day, scope.today)
    return load_monthly_report(reader.team, accounts, choose_report_month(months, month_text))


def choose_report_month(months: Sequence[date], text: str) -> date:
    if not text:
        return default_report_month(months)
    chosen = next((month for month in months if f"{month:%Y-%m}" == text), None)
    if chosen is None:
        raise Http404(NO_SUCH_MONTH)
    return chosen


def month_label(month: date, today: date) -> str:
    return f"{month:%B %Y}{' so far' if month == today.replace(day=1) else ''}"
