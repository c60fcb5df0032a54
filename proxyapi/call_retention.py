"""The record of calls. It grows with each look, by tens of thousands a day for a busy token, so
what only looked goes after a while. A call that charged stays: the page of its entry tells of it.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from proxyapi.models import ApiCall, Tenant
from proxyapi.operations import CHARGING_OPERATIONS

BATCH_SIZE = 1000


def prune_old_calls() -> int:
    """Delete what is older than API_CALL_RETENTION_DAYS and charged nothing; how many.

    Batch by batch, each its own transaction: calls are recorded meanwhile.
    """
    gone = 0
    for tenant in Tenant.objects.all():
        while batch := list(prunable_calls(tenant).values_list("pk", flat=True)[:BATCH_SIZE]):
            gone += ApiCall.objects.filter(pk__in=batch).delete()[0]
    return gone


def prunable_calls(tenant: Tenant) -> QuerySet[ApiCall]:
    until = timezone.now() - timedelta(days=settings.API_CALL_RETENTION_DAYS)
    old = ApiCall.objects.filter(tenant=tenant, sent_at__lt=until)
    return old.exclude(operation__in=CHARGING_OPERATIONS).order_by("sent_at")
