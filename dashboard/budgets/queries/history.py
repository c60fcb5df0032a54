"""What was changed about budgets and decided about approval requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    BudgetChange,
    BudgetPeriod,
    Membership,
)
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission

MAX_BUDGET_HISTORY_ROWS = 12
LISTED_DECISIONS = (ApprovalDecision.APPROVED, ApprovalDecision.DECLINED, ApprovalDecision.STALE)
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
    """The newest, for those who decide; two queries."""
    if not has_permission(reader, Permission.MANAGE_MONEY):
        return ()
    changes = BudgetChange.objects.filter(budget__team=reader.team)
    changes = changes.select_related("budget__member", "changed_by").order_by("-happened_at", "-pk")
    decided = ApprovalRequest.objects.filter(team=reader.team, decision__in=LISTED_DECISIONS)
    decided = decided.select_related("charge", "member", "decided_by").order_by("-decided_at")
    rows = [build_budget_change_row(it) for it in changes[:MAX_BUDGET_HISTORY_ROWS]]
    rows += [build_decision_row(it) for it in decided[:MAX_BUDGET_HISTORY_ROWS]]
    rows.sort(key=lambda row: row.happened_at, reverse=True)
    return tuple(rows[:MAX_BUDGET_HISTORY_ROWS])


def build_budget_change_row(change: BudgetChange) -> BudgetHistoryRow:
    """ "gave Priya Raman 2,500 cr a month, warned at 2,000"."""
    whose = str(change.budget.member or "the whole team")
    period = PERIOD_PHRASES[BudgetPeriod(change.budget.period)]
    before = limits_text(change.soft_before, change.hard_before)
    after = limits_text(change.soft_after, change.hard_after)
    if change.is_addition:
        state, text = "completed", f"limited {whose} {period}: {after}."
    elif change.is_end:
        state, text = "paused", f"ended {whose}’s budget {period}, {before}."
    else:
        text = f"changed {whose}’s limits {period}: {after} instead of {before}."
        state = "completed"
    return BudgetHistoryRow(state, change.changed_by.first_name, text, "", change.happened_at)


def limits_text(soft: Decimal | None, hard: Decimal | None) -> str:
    words = (("{} cr at most", hard), ("an alert at {}", soft))
    parts = [text.format(credits(limit)) for text, limit in words if limit is not None]
    return " and ".join(parts)


def build_decision_row(request: ApprovalRequest) -> BudgetHistoryRow:
    who, hold = request.member.first_name, credits(request.charge.hold)
    quote = ""
    match request.decision:
        case ApprovalDecision.APPROVED:
            state, text = "completed", f"approved {hold} cr for {who}."
        case ApprovalDecision.DECLINED:
            state, text, quote = "failed", f"declined {hold} cr for {who}:", request.answer
        case _:
            text = f"could not send {hold} cr for {who}: it had changed meanwhile."
            state = "paused"
    if request.decided_by is None or request.decided_at is None:
        raise ValueError(f"request {request.pk} is not decided")  # the database refuses it too
    return BudgetHistoryRow(state, request.decided_by.first_name, text, quote, request.decided_at)
