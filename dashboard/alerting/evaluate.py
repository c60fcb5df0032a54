"""Evaluate: every threshold of a team is looked at, and what is new is told, once a period."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.alerting import money, people
from dashboard.alerting.deliveries import schedule
from dashboard.alerting.finding import Finding
from dashboard.models import AlertEvent, AlertRule, Delivery, Team, Watch
from proxyapi.events import EventType, publish_event

Look = Callable[[Team, Sequence[AlertRule], datetime], Iterator[Finding]]
LOOKS: Mapping[str, Look] = {
    Watch.BALANCE: money.balance,
    Watch.BUDGET: people.budgets,
    Watch.ASK: people.asks,
    Watch.TOP_UP_FAILED: money.failed_top_ups,
    Watch.TOP_UP_OFF: money.top_up_off,
    Watch.UNKNOWN: money.unknown,
    Watch.BOOKS: money.books,
}


def evaluate(team_id: UUID, looks: Mapping[str, Look] = LOOKS) -> list[Delivery]:
    """Tell what is new; answers what is to be delivered. May run twice at once: nobody is told
    twice. Clock times are told in the team's zone."""
    team = Team.objects.select_related("vault").get(pk=team_id)
    with timezone.override(team.vault.zone):
        found = list(look(team, looks, timezone.now()))
    known = keys_of(found)
    new = [finding for finding in found if finding.key not in known]
    return [delivery for finding in new for delivery in tell(team, finding)]


def look(team: Team, looks: Mapping[str, Look], now: datetime) -> Iterator[Finding]:
    rules = AlertRule.objects.filter(team=team, active=True, watch__in=looks)
    ordered = rules.order_by("watch", "-threshold")
    for watch, group in groupby(ordered, key=lambda rule: rule.watch):
        yield from looks[watch](team, list(group), now)


def keys_of(found: Sequence[Finding]) -> set[tuple[object, ...]]:
    """Those of them that were told already; one query."""
    if not found:
        return set()
    events = AlertEvent.objects.filter(
        rule__in={finding.rule.pk for finding in found},
        subject__in={finding.subject for finding in found},
        period__in={finding.period for finding in found},
    )
    return set(events.values_list("rule", "subject", "threshold", "period"))


def tell(team: Team, finding: Finding) -> list[Delivery]:
    """The event and its deliveries, unless somebody was faster: the constraint decides."""
    try:
        with transaction.atomic():
            event = AlertEvent.objects.create(
                team=team,
                rule=finding.rule,
                subject=finding.subject,
                threshold=finding.limit,
                period=finding.period,
                member_id=finding.member,
                for_money=finding.for_money,
                state=finding.state,
                title=finding.title[:160],
                text=finding.text[:400],
                url=finding.url,
            )
            publish_event(team.vault_id, EventType.ALERT, event.pk)
            return schedule(event)
    except IntegrityError:
        return []
