"""A budget drawn: spent solid, held hatched, a notch at the alert; amber past it, red at a cap."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dashboard.shared.budget_usage import BudgetUsage
from dashboard.shared.formatting import credits, percent

ZERO_CREDITS = Decimal(0)
# A budget that only warns has room after its alert.
ALERT_ONLY_SCALE_FACTOR = Decimal("1.25")


@dataclass(frozen=True, slots=True)
class BudgetMeter:
    """Lengths in percent of the whole, `alert` empty without one. `state`: late, failed or ""."""

    state: str
    spent: str
    held: str
    alert: str
    sentence: str


def build_budget_meter(standing: BudgetUsage) -> BudgetMeter:
    budget = standing.budget
    scale = budget.hard or (budget.soft or ZERO_CREDITS) * ALERT_ONLY_SCALE_FACTOR
    spent = min(standing.spent, scale)
    held = min(standing.held, scale - spent)
    notch = budget.soft is not None and budget.soft < scale
    return BudgetMeter(
        state=standing.state,
        spent=percent(100 * spent / scale),
        held=percent(100 * held / scale),
        alert=percent(100 * (budget.soft or ZERO_CREDITS) / scale) if notch else "",
        sentence=f"{credits(standing.spent)} spent and {credits(standing.held)} held, "
        f"{budget_limits_text(standing)}",
    )


def budget_limits_text(standing: BudgetUsage) -> str:
    """ "of 2,500, alert at 2,000"."""
    budget, words = standing.budget, []
    if budget.hard is not None:
        words.append(f"of {credits(budget.hard)}")
    if budget.soft is not None:
        words.append(f"alert at {credits(budget.soft)}")
    return ", ".join(words)


def budget_share_text(standing: BudgetUsage) -> str:
    """How much of the limit is gone: "71 %". Never rounded up to a limit that is not reached."""
    limit = standing.budget.hard or standing.budget.soft or Decimal(1)
    return f"{int(100 * standing.used / limit)} %"
