"""The budget in a question with a price: what is left of it, and whether the price fits."""

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
    """Of all budgets with a cap that bind the reader, the tightest. `over` says why it is refused,
    as the refusal itself would; `warned`: the price takes it past its alert."""

    label: str
    note: str
    left: Decimal
    after: Decimal
    refusal: str
    alert_warning: str


def build_budget_impact(reader: Membership, hold: Decimal) -> BudgetImpact | None:
    """None where no budget binds. At most five queries."""
    budgets = Budget.objects.applying_to(reader.team_id, reader.user_id).exclude(hard=None)
    short = most_constrained(load_budget_usages(reader.team, budgets, timezone.now()))
    if short is None:
        return None
    left = short.remaining or ZERO_CREDITS
    over = "" if short.has_room_for(hold) else over_budget_text(short, hold, reader)
    return BudgetImpact(
        label=budget_label(short),
        note=budget_left_text(short),
        left=left,
        after=left - hold,
        refusal=over,
        alert_warning="" if over else alert_warning_text(short, hold),
    )


def over_budget_text(standing: BudgetUsage, hold: Decimal, reader: Membership) -> str:
    return BudgetExceeded(hold, standing, approver_names(reader.team)).why


def budget_label(standing: BudgetUsage) -> str:
    """ "Your budget this month", "The team’s budget today"."""
    whose = "Your" if standing.budget.member_id else "The team’s"
    return f"{whose} budget {PERIOD_NAMES[BudgetPeriod(standing.budget.period)]}"


def budget_left_text(standing: BudgetUsage) -> str:
    """ "61 of your 2,500 left until 1 Dec"."""
    whose = "your" if standing.budget.member_id else "the team’s"
    left, hard = (
        credits(standing.remaining or ZERO_CREDITS),
        credits(standing.budget.hard or ZERO_CREDITS),
    )
    return f"{left} of {whose} {hard} left until {standing.resets_at_label}"


def alert_warning_text(standing: BudgetUsage, hold: Decimal) -> str:
    soft = standing.budget.soft
    if soft is None or standing.used + hold < soft:
        return ""
    return f"It passes the alert at {credits(soft)}. It is sent anyway."
