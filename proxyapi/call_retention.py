"""Delete old records of upstream calls.

Polling adds tens of thousands of records a day for a busy token, so records of calls that did not
charge are deleted after a while. A call that charged stays: its entry's page shows it.
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
    """Delete records of non-charging calls older than API_CALL_RETENTION_DAYS; return how many.

    Batch by batch, each its own transaction, because calls are recorded meanwhile.
    """
    deleted = 0
    for tenant in Tenant.objects.all():
        while batch := list(prunable_calls(tenant).values_list("pk", flat=True)[:BATCH_SIZE]):
            deleted += ApiCall.objects.filter(pk__in=batch).delete()[0]
    return deleted


def prunable_calls(tenant: Tenant) -> QuerySet[ApiCall]:
    until = timezone.now() - timedelta(days=settings.API_CALL_RETENTION_DAYS)
    old = ApiCall.objects.filter(tenant=tenant, sent_at__lt=until)
    return old.exclude(operation__in=CHARGING_OPERATIONS).order_by("sent_at")
