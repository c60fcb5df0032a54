"""What was changed about budgets and decided about asks, out of the audit rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from dashboard.models import AuditEvent, BudgetPeriod, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.templatetags.reelroom import credits

MAX_BUDGET_HISTORY_ROWS = 12
BUDGET_ACTIONS = ("budget.add", "budget.change", "budget.end")
APPROVAL_ACTIONS = ("ask.approved", "ask.declined", "ask.stale")
PERIOD_PHRASES = {
    BudgetPeriod.DAY: "a day",
    BudgetPeriod.WEEK: "a week",
    BudgetPeriod.MONTH: "a month",
}


@dataclass(frozen=True, slots=True)
class BudgetHistoryRow:
    """`state` chooses the glyph; `text` has no name in front: `who` is it."""

    state: str
    who: str
    text: str
    quote: str
    happened_at: datetime


def build_budget_history(reader: Membership) -> tuple[BudgetHistoryRow, ...]:
    """The newest, for those who decide; one query."""
    if not has_permission(reader, Permission.MANAGE_MONEY):
        return ()
    rows = AuditEvent.objects.filter(
        team=reader.team, action__in=(*BUDGET_ACTIONS, *APPROVAL_ACTIONS)
    )
    rows = rows.select_related("actor").order_by("-happened_at", "-pk")[:MAX_BUDGET_HISTORY_ROWS]
    return tuple(build_budget_history_row(row) for row in rows)


def build_budget_history_row(row: AuditEvent) -> BudgetHistoryRow:
    told = (
        describe_budget_event(row.action, row.details)
        if row.action in BUDGET_ACTIONS
        else describe_approval_event(row)
    )
    state, text = told
    quote = str(row.details.get("answer") or "") if row.action == "ask.declined" else ""
    return BudgetHistoryRow(state, row.actor.first_name, text, quote, row.happened_at)


def describe_budget_event(action: str, details: dict[str, Any]) -> tuple[str, str]:
    """ "gave Priya Raman 2,500 cr a month, warned at 2,000"."""
    whose = details.get("member") or "the whole team"
    each = PERIOD_PHRASES[BudgetPeriod(details.get("period", BudgetPeriod.MONTH))]
    before, after = (logged_limits_text(details.get(side) or {}) for side in ("before", "after"))
    match action:
        case "budget.add":
            return "completed", f"limited {whose} {each}: {after}."
        case "budget.change":
            return "completed", f"changed {whose}’s limits {each}: {after} instead of {before}."
    return "paused", f"ended {whose}’s budget {each}, {before}."


def logged_limits_text(limits: dict[str, str]) -> str:
    words = {"hard": "{} cr at most", "soft": "an alert at {}"}
    found = [words[name].format(credits(Decimal(limits[name]))) for name in words if name in limits]
    return " and ".join(found) or "none"


def describe_approval_event(row: AuditEvent) -> tuple[str, str]:
    who, hold = row.details.get("member") or "A member", credits(row.details.get("hold"))
    match row.action:
        case "ask.approved":
            return "completed", f"approved {hold} cr for {who}."
        case "ask.declined":
            return "failed", f"declined {hold} cr for {who}:"
    return "paused", f"could not send {hold} cr for {who}: it had changed meanwhile."
