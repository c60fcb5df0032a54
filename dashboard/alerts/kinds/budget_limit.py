"""Budgets past their alert or at their limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal

from django.urls import reverse

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
)
from dashboard.models import (
    AlertKind,
    AlertRule,
    Budget,
    BudgetPeriod,
    Team,
)
from dashboard.shared.budget_usage import BudgetUsage, load_budget_usages
from dashboard.shared.formatting import credits

PERIOD_PHRASES = {
    BudgetPeriod.DAY: "today",
    BudgetPeriod.WEEK: "this week",
    BudgetPeriod.MONTH: "this month",
}


AT_LIMIT_TEXT = "Nothing more is sent before {until} unless a treasurer or owner approves it."


def find_budgets_past_limit(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = Budget.objects.filter(team=team, active=True).select_related("member")
    for standing in load_budget_usages(team, rows, now):
        limit = highest_reached_limit(standing)
        for rule in rules if limit is not None else ():
            yield budget_finding(rule, standing, limit or Decimal(0))


def highest_reached_limit(standing: BudgetUsage) -> Decimal | None:
    """The higher of the limits that it is at or past."""
    limits = (standing.budget.hard, standing.budget.soft)
    return next((it for it in limits if it is not None and standing.used >= it), None)


def budget_finding(rule: AlertRule, standing: BudgetUsage, limit: Decimal) -> AlertFinding:
    budget = standing.budget
    who = budget.member.first_name if budget.member else "The team"
    when = PERIOD_PHRASES[BudgetPeriod(budget.period)]
    capped = limit == budget.hard
    of = f" of {credits(budget.hard)}" if budget.hard is not None else ""
    held = f" and {credits(standing.held)} held" if standing.held else ""
    taken = f"{credits(standing.spent)} spent{held}."
    return AlertFinding(
        rule,
        str(budget.pk),
        f"{who} is at the limit of {credits(limit)} cr {when}"
        if capped
        else f"{who} is past {credits(limit)}{of} cr {when}",
        f"{taken} {AT_LIMIT_TEXT.format(until=standing.resets_at_label)}"
        if capped
        else f"{taken} It resets {standing.resets_at_label}.",
        "failed" if capped else "late",
        reverse("budgets"),
        f"{standing.bounds.start.astimezone(standing.zone):%Y-%m-%d}",
        limit,
        budget.member_id,
        for_money=True,
    )


SPEC = AlertKindSpec(
    kind=AlertKind.BUDGET,
    sentence="A budget reaches its alert or its limit",
    find=find_budgets_past_limit,
)
