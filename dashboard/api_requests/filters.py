"""Filters of the request log, as read from its URL and applied to its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone

from dashboard.shared import query_params
from proxyapi.models import GatewayRequest, Tenant
from proxyapi.operations import OPERATIONS

PERIOD_DAYS = {"": 0, "7": 7, "30": 30}  # days before today
PERIOD_LABELS = {"": "Today", "7": "Last 7 days", "30": "Last 30 days", "all": "Everything"}
STATUS_LABELS = {
    "": "any",
    "2xx": "2xx",
    "4xx": "4xx",
    "5xx": "5xx",
    "reelroom": "refused by Reelroom",
}
REPLAYED_LABELS = {"": "any", "yes": "yes", "no": "no"}


class RequestCursor(NamedTuple):
    """The end of a page: time and id of its last row."""

    at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{query_params.format_cursor_time(self.at)}.{self.id.hex}"


@dataclass(frozen=True, slots=True)
class RequestFilters(query_params.PageFilters):
    PAGE: ClassVar[str] = "api-requests"
    CURSOR: ClassVar[str] = "before"

    search: str = ""
    key: UUID | None = None
    member: int | None = None
    operation: str = ""
    status: str = ""
    replayed: str = ""
    period: str = ""
    before: RequestCursor | None = None

    @property
    def is_narrowed(self) -> bool:
        chosen = (self.search, self.key, self.member, self.operation, self.status, self.replayed)
        return any(chosen)


def parse_request_filters(query: Mapping[str, str]) -> RequestFilters:
    return RequestFilters(
        search=query_params.parse_search_text(query),
        key=query_params.parse_uuid(query.get("key", "")),
        member=query_params.parse_small_int(query.get("member", "")),
        operation=query_params.allowed_or_empty(query.get("operation", ""), OPERATIONS),
        status=query_params.allowed_or_empty(query.get("status", ""), STATUS_LABELS),
        replayed=query_params.allowed_or_empty(query.get("replayed", ""), REPLAYED_LABELS),
        period=query_params.allowed_or_empty(query.get("period", ""), PERIOD_LABELS),
        before=parse_cursor(query.get("before", "")),
    )


def parse_cursor(text: str) -> RequestCursor | None:
    try:
        seconds, fraction, row_id = text.split(".")
        return RequestCursor(query_params.parse_cursor_time(seconds, fraction), UUID(row_id))
    except (ValueError, OverflowError, OSError):
        return None


def filter_requests(
    rows: QuerySet[GatewayRequest], filters: RequestFilters, tenant: Tenant
) -> QuerySet[GatewayRequest]:
    """The rows of all pages that match; the id of a request finds it in any period."""
    if (request_id := query_params.parse_uuid(filters.search)) is not None:
        return rows.filter(pk=request_id)
    if filters.period in PERIOD_DAYS:
        rows = rows.filter(received_at__gte=period_start(filters.period, tenant))
    if filters.search:
        text = filters.search
        rows = rows.filter(Q(path__icontains=text) | Q(code__icontains=text))
    if filters.key:
        rows = rows.filter(key=filters.key)
    if filters.member:
        rows = rows.filter(key__owner=filters.member)
    if filters.operation:
        rows = rows.filter(operation=filters.operation)
    if filters.status == "reelroom":
        rows = rows.filter(status__gte=400, service_requests=0, is_replayed=False)
    elif filters.status:
        first = int(filters.status[0]) * 100
        rows = rows.filter(status__gte=first, status__lt=first + 100)
    if filters.replayed:
        rows = rows.filter(is_replayed=filters.replayed == "yes")
    return rows


def period_start(period: str, tenant: Tenant) -> datetime:
    """The first moment of the period in the team's time zone."""
    midnight = timezone.localtime(timezone=tenant.zone).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return midnight - timedelta(days=PERIOD_DAYS[period])


def rows_before(
    rows: QuerySet[GatewayRequest], cursor: RequestCursor | None
) -> QuerySet[GatewayRequest]:
    """The rows older than the cursor, newest first."""
    if cursor is not None:
        same_time = Q(received_at=cursor.at, pk__lt=cursor.id)
        # The first condition alone can use the index of times.
        rows = rows.filter(
            Q(received_at__lte=cursor.at) & (Q(received_at__lt=cursor.at) | same_time)
        )
    return rows.order_by("-received_at", "-pk")
