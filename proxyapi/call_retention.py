"""Delete records of upstream calls that nobody reads any more.

Polling adds tens of thousands of records a day for a busy token. An answered read is summed by
quarter of an hour (`service_quarters`), and its record is deleted two hours later; with
`LOG_CALLS=all` after a day. A read that failed is kept for API_CALL_RETENTION_DAYS, and so is the
newest call of each token, which tells when it was last used. A call that charged stays: its entry's
page shows it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from proxyapi.models import ApiCall, CallOutcome, Tenant
from proxyapi.operations import CHARGING_OPERATIONS
from proxyapi.pruning import delete_in_batches

READS_KEPT_FOR = {"failures": timedelta(hours=2), "all": timedelta(days=1)}  # by LOG_CALLS


def prune_old_calls() -> int:
    """Delete what is no longer kept; return how many."""
    now = timezone.now()
    return sum(delete_in_batches(prunable_calls(tenant, now)) for tenant in Tenant.objects.all())


def prunable_calls(tenant: Tenant, now: datetime) -> QuerySet[ApiCall]:
    newer = ApiCall.objects.filter(token=OuterRef("token"), sent_at__gt=OuterRef("sent_at"))
    summed = Q(Exists(newer), outcome=CallOutcome.ANSWERED)
    reads_until = now - READS_KEPT_FOR[settings.LOG_CALLS]
    until = now - timedelta(days=settings.API_CALL_RETENTION_DAYS)
    old = Q(sent_at__lt=until) | summed & Q(sent_at__lt=reads_until)
    calls = ApiCall.objects.filter(old, tenant=tenant, sent_at__lt=max(until, reads_until))
    return calls.exclude(operation__in=CHARGING_OPERATIONS).order_by("sent_at")
