"""Evaluation: find the crossed thresholds of a team and create an alert for each, once per
period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.alerts.declaration import AlertFinder, AlertFinding
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, AlertRule, Delivery, Team
from dashboard.shared.notices import schedule_deliveries
from proxyapi.events import EventType, publish_event


def evaluate_team(team_id: UUID, *, slow: bool = False) -> list[Delivery]:
    """Create alerts for new findings of the slow kinds or of the others; return the deliveries to
    send.

    Two evaluations may run at once without a duplicate alert. Times in texts are in the team's
    zone.
    """
    finders = {kind: spec.find for kind, spec in ALERT_KINDS.items() if spec.is_slow == slow}
    team = Team.objects.select_related("tenant").get(pk=team_id)
    with timezone.override(team.tenant.zone):
        findings = list(run_alert_finders(team, finders, timezone.now()))
    known_keys = known_finding_keys(findings)
    new = [finding for finding in findings if finding.key not in known_keys]
    return [delivery for finding in new for delivery in create_alert(team, finding)]


def run_alert_finders(
    team: Team, finders: Mapping[str, AlertFinder], now: datetime
) -> Iterator[AlertFinding]:
    rules = AlertRule.objects.filter(team=team, active=True, kind__in=finders)
    ordered = rules.order_by("kind", "-threshold")
    for kind, group in groupby(ordered, key=lambda rule: rule.kind):
        yield from finders[kind](team, list(group), now)


def known_finding_keys(findings: Sequence[AlertFinding]) -> set[tuple[object, ...]]:
    """The keys of the findings that already have an alert; one query."""
    if not findings:
        return set()
    events = AlertEvent.objects.filter(
        rule__in={finding.rule.pk for finding in findings},
        subject__in={finding.subject for finding in findings},
        period__in={finding.period for finding in findings},
    )
    return set(events.values_list("rule", "subject", "threshold", "period"))


def create_alert(team: Team, finding: AlertFinding) -> list[Delivery]:
    """Create the event and its deliveries; none if a concurrent evaluation created it first, which
    the unique constraint decides."""
    try:
        with transaction.atomic():
            event = AlertEvent.objects.create(
                team=team,
                rule=finding.rule,
                subject=finding.subject,
                threshold=finding.effective_threshold,
                period=finding.period,
                member_id=finding.member,
                for_money=finding.for_money,
                state=finding.state,
                title=finding.title[:160],
                text=finding.text[:400],
                url=finding.url,
            )
            publish_event(team.tenant_id, EventType.ALERT, event.pk)
            return schedule_deliveries(event)
    except IntegrityError:
        return []
