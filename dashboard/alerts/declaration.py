"""The declaration of an alert kind, and the findings that its finder yields.

A finding is a threshold that is currently crossed, with its text. Subject, threshold and period
identify it, so that later evaluations recognise it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse

from dashboard.models import AlertKind, AlertRule, BudgetPeriod, Team
from dashboard.shared.budget_usage import period_bounds
from proxyapi.models import Account, spendable_accounts


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """`member` is the id of the user it concerns; `for_money`: visible to treasurer and owner, see
    `AlertEvent`."""

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
    def effective_threshold(self) -> Decimal:
        return self.rule.threshold if self.threshold is None else self.threshold


AlertFinder = Callable[[Team, Sequence[AlertRule], datetime], Iterator[AlertFinding]]


class ThresholdRange(NamedTuple):
    """The allowed thresholds, both ends included, and their unit."""

    minimum: int
    maximum: int
    unit: str


@dataclass(frozen=True, slots=True)
class AlertKindSpec:
    """One alert kind.

    `sentence` is its line in the table of rules, `threshold_label` its option in the form for a new
    rule. Without `threshold` its rules have no threshold. `default_thresholds` are those of a new
    team's rules. `is_worse_below`: of two crossed thresholds the lower is the worse. A slow kind is
    evaluated every 15 minutes, the others after each charge and every 30 seconds. `open_subjects`
    returns the ids of subjects that are still open, whose alerts are kept; without it, a newer
    alert allows older ones to be pruned.
    """

    kind: AlertKind
    sentence: str
    find: AlertFinder
    threshold: ThresholdRange | None = None
    threshold_label: str = ""
    default_thresholds: tuple[int, ...] = (0,)
    is_worse_below: bool = False
    is_slow: bool = False
    open_subjects: Callable[[], Iterable[UUID]] | None = None

    @property
    def webhook_type(self) -> str:
        return f"alert.{self.kind}"

    @property
    def rule_form_label(self) -> str:
        return self.threshold_label or self.sentence


def weekly_period(team: Team, now: datetime) -> str:
    """The period of a finding without one of its own: it is reported at most once a week."""
    zone = team.tenant.zone
    return f"{period_bounds(BudgetPeriod.WEEK, zone, now).start.astimezone(zone):%Y-%m-%d}"


def age_period(since: datetime, now: datetime) -> str:
    """The period of a subject that waits for a decision: it is reported again each week."""
    weeks = (now - since) // timedelta(weeks=1)
    return f"week {weeks + 1}" if weeks > 0 else ""


def account_page_url(page: str, account: UUID) -> str:
    return f"{reverse(page)}?account={account}"


def accounts_to_spend_from(team: Team) -> QuerySet[Account]:
    """The accounts whose credits can be spent: how few the others have concerns nobody."""
    return spendable_accounts().filter(tenant=team.tenant_id).defer("options", "costs")
