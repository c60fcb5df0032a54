"""Budgets that have reached their alert threshold or their limit."""

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
    rows = Budget.objects.filter(team=team, active=True).select_related("member", "label")
    for usage in load_budget_usages(team, rows, now):
        limit = highest_reached_limit(usage)
        for rule in rules if limit is not None else ():
            yield budget_finding(rule, usage, limit or Decimal(0))


def highest_reached_limit(usage: BudgetUsage) -> Decimal | None:
    """The hard limit if it is reached, else the alert threshold if that is. None for a limit of 0,
    with which a member is blocked on purpose."""
    limits = (usage.hard, usage.budget.soft)
    return next((limit for limit in limits if limit and usage.used >= limit), None)


def budget_finding(rule: AlertRule, usage: BudgetUsage, limit: Decimal) -> AlertFinding:
    budget = usage.budget
    subject_name = f"The label {budget.label}" if budget.label_id else "The team"
    if budget.member:
        subject_name = budget.member.first_name
    period_phrase = PERIOD_PHRASES[BudgetPeriod(budget.period)]
    is_at_limit = limit == usage.hard
    of_limit_text = f" of {credits(usage.hard)}" if usage.hard is not None else ""
    held_text = f" and {credits(usage.held)} held" if usage.held else ""
    usage_text = f"{credits(usage.spent)} spent{held_text}."
    return AlertFinding(
        rule,
        str(budget.pk),
        f"{subject_name} is at the limit of {credits(limit)} cr {period_phrase}"
        if is_at_limit
        else f"{subject_name} is past {credits(limit)}{of_limit_text} cr {period_phrase}",
        f"{usage_text} {AT_LIMIT_TEXT.format(until=usage.resets_at_label)}"
        if is_at_limit
        else f"{usage_text} It resets {usage.resets_at_label}.",
        "failed" if is_at_limit else "late",
        reverse("budgets"),
        f"{usage.bounds.start.astimezone(usage.zone):%Y-%m-%d}",
        limit,
        budget.member_id,
        for_money=True,
    )


SPEC = AlertKindSpec(
    kind=AlertKind.BUDGET,
    sentence="A budget reaches its alert or its limit",
    find=find_budgets_past_limit,
)
