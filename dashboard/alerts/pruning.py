"""Pruning: delete old alerts that are no longer needed.

The row of an alert prevents a second alert for the same subject, threshold and period. So it is
kept, however old and whether read or not, if it is:

- the newest of its rule, subject and threshold, whose period may last for years;
- about a charge or an approval request that is still open;
- not delivered to every address yet.
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
from proxyapi.pruning import delete_in_batches

# Kinds about one charge or one request, which end when that is decided.
ONE_OFF_KINDS = tuple(kind for kind, spec in ALERT_KINDS.items() if spec.open_subjects)


def prune_alert_events() -> int:
    """Delete alerts older than `ALERT_RETENTION_DAYS` with their deliveries; return the number of
    alerts."""
    return delete_in_batches(prunable_alert_events())


def prunable_alert_events() -> QuerySet[AlertEvent]:
    cutoff = timezone.now() - timedelta(days=settings.ALERT_RETENTION_DAYS)
    newer = AlertEvent.objects.filter(
        rule=OuterRef("rule"),
        subject=OuterRef("subject"),
        threshold=OuterRef("threshold"),
        happened_at__gt=OuterRef("happened_at"),
    )
    undelivered = Delivery.objects.filter(event=OuterRef("pk"), state=DeliveryState.DUE)
    is_over = Q(rule__kind__in=ONE_OFF_KINDS) & ~Q(
        subject__in=[str(pk) for pk in open_subject_ids()]
    )
    old_events = AlertEvent.objects.filter(~Exists(undelivered), happened_at__lt=cutoff)
    return old_events.filter(
        Q(rule=None) | is_over | (~Q(rule__kind__in=ONE_OFF_KINDS) & Exists(newer))
    )


def open_subject_ids() -> Iterator[UUID]:
    """The ids of charges and approval requests that are still open."""
    for spec in ALERT_KINDS.values():
        if spec.open_subjects:
            yield from spec.open_subjects()
