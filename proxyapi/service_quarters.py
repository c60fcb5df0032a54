"""Sum a team's calls by quarter of an hour, so that pages show a day without reading each call.

A quarter is counted anew from its calls each minute until it is over, so a lost or repeated run
changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from proxyapi.models import ApiCall, ServiceQuarter, Tenant
from proxyapi.models.api_call import SERVER_ERROR_STATUS
from proxyapi.operations import CHARGING_OPERATIONS
from proxyapi.pruning import delete_in_batches

QUARTER = timedelta(minutes=15)
QUARTERS_KEPT_FOR = timedelta(days=8)
NO_ANSWER_CODE = "NO-ANSWER"
ANSWERED = Q(status__isnull=False, status__lt=SERVER_ERROR_STATUS)


def quarter_start(at: datetime) -> datetime:
    return at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)


def update_service_quarters(now: datetime | None = None) -> None:
    """Count the current quarter and the one before for each tenant with calls in them, and delete
    old quarters."""
    now = now or timezone.now()
    current = quarter_start(now)
    for tenant_id in Tenant.objects.values_list("pk", flat=True):
        for starts_at in (current - QUARTER, current):
            calls = ApiCall.objects.filter(tenant=tenant_id, sent_at__gte=starts_at)
            update_quarter(tenant_id, starts_at, calls.filter(sent_at__lt=starts_at + QUARTER))
    delete_in_batches(ServiceQuarter.objects.filter(starts_at__lt=now - QUARTERS_KEPT_FOR))


def update_quarter(tenant_id: UUID, starts_at: datetime, calls: QuerySet[ApiCall]) -> None:
    """Store the sums of these calls; nothing if there are none."""
    totals = calls.aggregate(
        answered=Count("pk", filter=ANSWERED), unanswered=Count("pk", filter=~ANSWERED)
    )
    if not any(totals.values()):
        return
    durations = calls.filter(ANSWERED).exclude(operation__in=CHARGING_OPERATIONS)
    fields: dict[str, object] = {
        **totals,
        "median_ms": median_or_none(list(durations.values_list("milliseconds", flat=True))),
        "codes": count_codes(calls),
    }
    ServiceQuarter.objects.update_or_create(
        tenant_id=tenant_id, starts_at=starts_at, defaults=fields
    )


def count_codes(calls: QuerySet[ApiCall]) -> dict[str, int]:
    """Return the number of calls by error code; calls without any answer have no code of the
    service."""
    rows = calls.exclude(ANSWERED, code="").order_by().values_list("code")
    counts: dict[str, int] = {}
    for code, count in rows.annotate(count=Count("pk")):
        counts[code or NO_ANSWER_CODE] = counts.get(code or NO_ANSWER_CODE, 0) + count
    return counts


def median_or_none(values: Sequence[int]) -> int | None:
    return round(median(values)) if values else None
