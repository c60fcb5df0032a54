"""The budget rows of a price question: the credits left, and whether the price fits."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.utils import timezone

from dashboard.models import Budget, BudgetPeriod, Membership
from dashboard.shared.budget_usage import (
    PERIOD_NAMES,
    BudgetExceeded,
    BudgetUsage,
    approver_names,
    load_budget_usages,
    most_constrained,
)
from dashboard.shared.formatting import credits

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class BudgetImpact:
    """The most constrained of the reader's hard-limited budgets, before and after a hold; in
    credits.

    `refusal` is the sentence of `BudgetExceeded`, empty if the hold fits; `alert_warning` is set if
    the hold reaches the budget's alert limit.
    """

    label: str
    note: str
    left: Decimal
    after: Decimal
    refusal: str
    alert_warning: str


def build_budget_impact(reader: Membership, hold: Decimal) -> BudgetImpact | None:
    """Return None if no budget with a hard limit applies to the reader. At most five queries."""
    budgets = Budget.objects.applying_to(reader.team_id, reader.user_id).exclude(hard=None)
    usage = most_constrained(load_budget_usages(reader.team, budgets, timezone.now()))
    if usage is None:
        return None
    left = usage.remaining or ZERO_CREDITS
    refusal = "" if usage.has_room_for(hold) else over_budget_text(usage, hold, reader)
    return BudgetImpact(
        label=budget_label(usage),
        note=budget_left_text(usage),
        left=left,
        after=left - hold,
        refusal=refusal,
        alert_warning="" if refusal else alert_warning_text(usage, hold),
    )


def over_budget_text(usage: BudgetUsage, hold: Decimal, reader: Membership) -> str:
    return BudgetExceeded(hold, usage, approver_names(reader.team)).why


def budget_label(usage: BudgetUsage) -> str:
    """Return a label such as "Your budget this month" or "The team’s budget today"."""
    whose = "Your" if usage.budget.member_id else "The team’s"
    return f"{whose} budget {PERIOD_NAMES[BudgetPeriod(usage.budget.period)]}"


def budget_left_text(usage: BudgetUsage) -> str:
    """Return a note such as "61 of your 2,500 left until 1 Dec"."""
    whose = "your" if usage.budget.member_id else "the team’s"
    left, hard = (
        credits(usage.remaining or ZERO_CREDITS),
        credits(usage.budget.hard or ZERO_CREDITS),
    )
    return f"{left} of {whose} {hard} left until {usage.resets_at_label}"


def alert_warning_text(usage: BudgetUsage, hold: Decimal) -> str:
    soft = usage.budget.soft
    if soft is None or usage.used + hold < soft:
        return ""
    return f"It passes the alert at {credits(soft)}. It is sent anyway."
