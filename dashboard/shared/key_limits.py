"""What the credit limits of an API key leave: spent + held credits of its own charges, as budgets
count them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from django.db.models import Q, Sum

from dashboard.models import BudgetPeriod, Team
from dashboard.shared.budget_usage import (
    PERIOD_NAMES,
    ApprovalRequired,
    approver_hint,
    counted_charges,
    period_bounds,
)
from proxyapi.models import ApiKey
from proxyapi.models.account import quantize_credits
from proxyapi.models.charge import CHARGED_STATES, HOLDING_STATES
from proxyapi.refusals import SpendingLimit, format_credits

KEY_LIMIT_FIELDS = {BudgetPeriod.DAY: "daily_limit", BudgetPeriod.MONTH: "monthly_limit"}


class KeyLimitExceeded(ApprovalRequired):
    """A limit of the script's key would be exceeded."""

    is_for_scripts = True

    def __init__(self, needed: Decimal, limit: SpendingLimit, approvers: Sequence[str]) -> None:
        left = format_credits(max(limit.remaining, Decimal(0)))
        period = PERIOD_NAMES[BudgetPeriod(limit.key.partition(" ")[2])]
        super().__init__(
            f"It needs {format_credits(needed)} cr, and {left} are left of the key’s limit "
            f"{period}. {approver_hint(approvers)}"
        )


def load_key_limits(team: Team, key: ApiKey, at: datetime) -> tuple[SpendingLimit, ...]:
    """Return what the key may still spend today and this month; one query for each limit."""
    return tuple(
        SpendingLimit(f"key {period}", limit - spent_and_held(team, key, period, at))
        for period, field in KEY_LIMIT_FIELDS.items()
        if (limit := getattr(key, field)) is not None
    )


def spent_and_held(team: Team, key: ApiKey, period: BudgetPeriod, at: datetime) -> Decimal:
    """Return the credits that the key spent and holds in the period of `at`."""
    charges = counted_charges(team, period_bounds(period, team.tenant.zone, at))
    sums = charges.filter(api_key=key).aggregate(
        spent=Sum("cost", filter=Q(state__in=CHARGED_STATES)),
        held=Sum("hold", filter=Q(state__in=HOLDING_STATES)),
    )
    return quantize_credits(sums["spent"]) + quantize_credits(sums["held"])
