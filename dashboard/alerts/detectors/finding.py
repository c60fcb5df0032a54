"""A finding: a threshold that is crossed now, with the words for it.

Found again a minute later it is the same one: subject, threshold and period name it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import NoReverseMatch, reverse

from dashboard.models import AlertRule, BudgetPeriod, Team
from dashboard.shared.budget_usage import period_bounds


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """`member`: about this one; `for_money`: for treasurer and owner (models.AlertEvent)."""

    rule: AlertRule
    subject: str
    title: str
    text: str
    state: str = "late"
    url: str = ""
    period: str = ""
    threshold: Decimal | None = None
    member: int | None = None
    for_money: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        return (self.rule.pk, self.subject, self.effective_threshold, self.period)

    @property
    def effective_threshold(self) -> Decimal:
        return self.rule.threshold if self.threshold is None else self.threshold


def weekly_period(team: Team, now: datetime) -> str:
    """The period of what has none of its own: told again at most once a week."""
    zone = team.tenant.zone
    return f"{period_bounds(BudgetPeriod.WEEK, zone, now).start.astimezone(zone):%Y-%m-%d}"


def age_period(since: datetime, now: datetime) -> str:
    """The period of what waits for somebody: told again each week that it goes on waiting."""
    weeks = (now - since) // timedelta(weeks=1)
    return f"week {weeks + 1}" if weeks > 0 else ""


def page_url_or_empty(name: str, query: str = "") -> str:
    """Where to look, or nothing where this installation has no such page."""
    try:
        return f"{reverse(name)}{query}"
    except NoReverseMatch:
        return ""


AlertFinder = Callable[[Team, Sequence[AlertRule], datetime], Iterator[AlertFinding]]
