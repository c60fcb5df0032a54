"""The request log's page, and one request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from dashboard.api_requests.filters import (
    PERIOD_LABELS,
    REPLAYED_LABELS,
    STATUS_LABELS,
    RequestCursor,
    RequestFilters,
    filter_requests,
    rows_before,
)
from dashboard.api_requests.rows import build_row, iter_bars
from dashboard.models import Membership
from dashboard.shared.access import gateway_requests, has_permission
from dashboard.shared.filter_chips import (
    FilterChip,
    build_filter_chip,
    build_filter_sheet,
    build_hidden_params,
)
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.roles import Permission
from dashboard.shared.videos.charge_status import open_charge_texts
from proxyapi.models import ApiKey, GatewayRequest
from proxyapi.operations import OPERATIONS

PAGE_SIZE = 50
MAX_COUNT = 10_000  # a larger number of matching requests is not counted
LONG_WAIT_MS = 5000


def load_requests(reader: Membership, filters: RequestFilters) -> dict[str, Any]:
    """Four queries. Raises `Http404` for a role without API keys."""
    visible, tenant = gateway_requests(reader), reader.team.tenant
    matching = filter_requests(visible, filters, tenant)
    page = rows_before(matching, filters.before).select_related("key__owner", "charge")
    rows = list(page[: PAGE_SIZE + 1])
    shown, is_more = rows[:PAGE_SIZE], len(rows) > PAGE_SIZE
    count = matching.order_by()[: MAX_COUNT + 1].count()
    chips = tuple(iter_chips(reader, filters))
    last = RequestCursor(shown[-1].received_at, shown[-1].pk) if shown else None
    return {
        "filters": filters,
        "chips": chips,
        "hidden_params": build_hidden_params(filters, "q", *(chip.name for chip in chips)),
        "sheet": build_filter_sheet(RequestFilters().url(), chips, filters),
        "hour": load_last_hour(visible),
        "rows": [build_row(row) for row in shown],
        "count": min(count, MAX_COUNT),
        "is_count_cut": count > MAX_COUNT,
        "period": PERIOD_LABELS[filters.period],
        "clear_url": RequestFilters(period=filters.period).url(),
        "first_url": filters.url() if filters.before else "",
        "older_url": filters.url(before=last) if is_more else "",
        "export_url": filters.url("api-requests-export"),
        "zone": tenant.zone.key.replace("_", " "),
        "kept_days": settings.GATEWAY_LOG_DAYS,
        "is_own": not has_permission(reader, Permission.VIEW_AUDIT),
    }


def load_last_hour(visible: QuerySet[GatewayRequest]) -> Mapping[str, Any]:
    """Figures of the last hour; of a whole day a busy script would have millions of rows."""
    rows = visible.filter(received_at__gte=timezone.now() - timedelta(hours=1))
    refused = Q(status__gte=400, service_requests=0, is_replayed=False)
    return rows.order_by().aggregate(
        all=Count("pk"),
        sent=Sum("service_requests", default=0),
        replayed=Count("pk", filter=Q(is_replayed=True)),
        refused=Count("pk", filter=refused),
        waited=Count("pk", filter=Q(waited_ms__gt=LONG_WAIT_MS)),
        limited=Count("pk", filter=Q(status=429)),
    )


def iter_chips(reader: Membership, filters: RequestFilters) -> Iterator[FilterChip]:
    """One query: the keys that the reader may see, with their members."""
    keys = ApiKey.objects.filter(tenant=reader.team.tenant_id)
    is_own = not has_permission(reader, Permission.VIEW_AUDIT)
    if is_own:
        keys = keys.filter(owner=reader.user_id)
    keys = keys.select_related("owner").order_by("name", "created_at")
    by_id = {str(key.pk): f"{key.name} …{key.last_four}" for key in keys}
    members = {str(key.owner_id): str(key.owner) for key in keys}
    yield build_filter_chip("period", "Period", PERIOD_LABELS, filters, plain=True)
    yield build_filter_chip("key", "Key", {"": "any"} | by_id, filters)
    if not is_own:
        yield build_filter_chip("member", "Member", {"": "everyone"} | members, filters)
    names = {name: f"{row.method} {row.path}" for name, row in OPERATIONS.items()}
    yield build_filter_chip("operation", "Operation", {"": "any"} | names, filters)
    yield build_filter_chip("status", "Status", STATUS_LABELS, filters)
    yield build_filter_chip("replayed", "Replayed", REPLAYED_LABELS, filters)


def load_request(reader: Membership, row: GatewayRequest) -> dict[str, Any]:
    """Three queries. `newer` and `older` are None at the ends of what the reader may see."""
    visible, cursor = gateway_requests(reader), RequestCursor(row.received_at, row.pk)
    after = Q(received_at__gt=row.received_at) | Q(received_at=row.received_at, pk__gt=row.pk)
    charge = row.charge
    texts = open_charge_texts(charge, timezone.now(), "") if charge and charge.is_open else None
    return {
        "row": build_row(row),
        "charge_text": texts.detail if texts else charge.reason if charge else "",
        "debit": charge.entries.filter(amount__lt=0).first() if charge else None,
        "job_url": job_page_url(row.job),
        "timeline": list(iter_bars(row, row.total_ms)),
        "newer": visible.filter(after).order_by("received_at", "pk").first(),
        "older": rows_before(visible, cursor).first(),
    }
