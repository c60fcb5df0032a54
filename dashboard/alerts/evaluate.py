"""Evaluation: find the crossed thresholds of a team and create an alert for each, once per
period."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.alerts.declaration import AlertFinding, AlertKindSpec
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, AlertKind, AlertRule, Delivery, Team
from dashboard.shared.notices import schedule_deliveries
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, ApiEvent, ApiEventType
from proxyapi.models.account import amount_text


def evaluate_team(team_id: UUID, *, slow: bool = False) -> list[Delivery]:
    """Create alerts for new findings of the slow kinds or of the others; return the deliveries to
    send.

    Two evaluations may run at once without a duplicate alert. Times in texts are in the team's
    zone.
    """
    specs = {kind: spec for kind, spec in ALERT_KINDS.items() if spec.is_slow == slow}
    team = Team.objects.select_related("tenant").get(pk=team_id)
    with timezone.override(team.tenant.zone):
        findings = list(run_alert_finders(team, specs, timezone.now()))
    reported = reported_thresholds(findings)
    new = [finding for finding in findings if not is_reported(finding, reported)]
    return [delivery for finding in new for delivery in create_alert(team, finding)]


def run_alert_finders(
    team: Team, specs: Mapping[str, AlertKindSpec], now: datetime
) -> Iterator[AlertFinding]:
    """Yield one finding for each subject of a kind: of several crossed thresholds the worst."""
    rules = AlertRule.objects.filter(team=team, active=True, kind__in=specs)
    ordered = rules.order_by("kind", "threshold")
    for kind, group in groupby(ordered, key=lambda rule: rule.kind):
        ascending = list(group)
        worst_first = ascending if specs[kind].is_worse_below else ascending[::-1]
        found: set[str] = set()
        for finding in specs[kind].find(team, worst_first, now):
            if finding.subject not in found:
                found.add(finding.subject)
                yield finding


def reported_thresholds(
    findings: Sequence[AlertFinding],
) -> Mapping[tuple[str, str, str], set[Decimal]]:
    """The thresholds of the alerts by kind, subject and period; one query."""
    reported: dict[tuple[str, str, str], set[Decimal]] = defaultdict(set)
    if findings:
        events = AlertEvent.objects.filter(
            rule__team=findings[0].rule.team_id,
            rule__kind__in={finding.rule.kind for finding in findings},
            subject__in={finding.subject for finding in findings},
            period__in={finding.period for finding in findings},
        )
        rows = events.values_list("rule__kind", "subject", "period", "threshold")
        for kind, subject, period, threshold in rows:
            reported[kind, subject, period].add(threshold)
    return reported


def is_reported(
    finding: AlertFinding, reported: Mapping[tuple[str, str, str], set[Decimal]]
) -> bool:
    """True if this threshold of the period was reported, or a worse one."""
    kind, threshold = finding.rule.kind, finding.effective_threshold
    thresholds = reported.get((kind, finding.subject, finding.period), set())
    if ALERT_KINDS[kind].is_worse_below:
        return any(other <= threshold for other in thresholds)
    return any(other >= threshold for other in thresholds)


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
            if finding.rule.kind == AlertKind.BALANCE:
                record_low_credits(team, event)
            publish_event(team.tenant_id, EventType.ALERT, event.pk)
            return schedule_deliveries(event)
    except IntegrityError:
        return []


def record_low_credits(team: Team, event: AlertEvent) -> None:
    """Write the event for scripts, in the caller's transaction."""
    account = Account.objects.get(pk=event.subject)
    data = {
        "account": account.pk,
        "balance": amount_text(account.balance),
        "threshold": amount_text(event.threshold),
        "url": event.link,
    }
    ApiEvent.objects.record(ApiEventType.CREDITS_LOW, event.pk, data, tenant_id=team.tenant_id)
