"""Pruning: alerts that are old, and can neither be told again nor wait for anybody, are deleted.

An alert is told once for each subject, threshold and period because its row is there; so a row
stays while that rule needs it, however old and whether read or not:

- the newest of each rule, subject and threshold, whose period may last for years;
- those about a charge or an ask that is still open;
- those that are still on their way to an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, Delivery, DeliveryState

PRUNE_BATCH_SIZE = 500
# Of one charge, of one request: over once that is decided.
ONE_OFF_KINDS = tuple(kind for kind, spec in ALERT_KINDS.items() if spec.open_subjects)


def prune_alert_events() -> int:
    """Delete what is older than ALERT_RETENTION_DAYS with its deliveries; how many alerts.

    Batch by batch, each its own transaction: alerts are told meanwhile.
    """
    gone = 0
    while batch := list(prunable_alert_events().values_list("pk", flat=True)[:PRUNE_BATCH_SIZE]):
        AlertEvent.objects.filter(pk__in=batch).delete()
        gone += len(batch)
    return gone


def prunable_alert_events() -> QuerySet[AlertEvent]:
    until = timezone.now() - timedelta(days=settings.ALERT_RETENTION_DAYS)
    newer = AlertEvent.objects.filter(
        rule=OuterRef("rule"),
        subject=OuterRef("subject"),
        threshold=OuterRef("threshold"),
        happened_at__gt=OuterRef("happened_at"),
    )
    leaving = Delivery.objects.filter(event=OuterRef("pk"), state=DeliveryState.DUE)
    is_over = Q(rule__kind__in=ONE_OFF_KINDS) & ~Q(
        subject__in=[str(pk) for pk in open_subject_ids()]
    )
    old = AlertEvent.objects.filter(~Exists(leaving), happened_at__lt=until)
    return old.filter(Q(rule=None) | is_over | (~Q(rule__kind__in=ONE_OFF_KINDS) & Exists(newer)))


def open_subject_ids() -> Iterator[UUID]:
    """The charges and approval requests that an alert may still be about."""
    for spec in ALERT_KINDS.values():
        if spec.open_subjects:
            yield from spec.open_subjects()
