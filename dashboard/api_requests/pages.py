"""The request log's page, one request, and the CSV of all that match the filters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from dashboard.api_requests.rows import Spent, build_row, iter_bars, method_of, spent_on
from dashboard.models import Membership
from dashboard.shared.access import gateway_requests, has_permission
from dashboard.shared.file_export import UTF8_BOM, PlainNumber, render_csv
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.lists import cursor_at, load_list, rows_after
from dashboard.shared.query_params import (
    Cursor,
    PageFilters,
    choice_field,
    cursor_field,
    id_field,
    number_field,
    parse_uuid,
    search_field,
    start_of_day,
)
from dashboard.shared.roles import Permission
from dashboard.shared.videos.charge_status import open_charge_texts
from proxyapi.models import ApiKey, GatewayRequest
from proxyapi.models.account import amount_text
from proxyapi.operations import OPERATIONS

PAGE_SIZE = 50
EXPORT_CHUNK_ROWS = 2_000  # rows per query
LONG_WAIT_MS = 5000
PERIOD_DAYS = {"": 0, "7": 7, "30": 30}  # days before today
PERIOD_LABELS = {"": "Today", "7": "Last 7 days", "30": "Last 30 days", "all": "Everything"}
STATUS_LABELS = {"": "any"} | {status: status for status in ("2xx", "4xx", "5xx")}
STATUS_LABELS |= {"reelroom": "refused by Reelroom"}
OPERATION_LABELS = {name: f"{row.method} {row.path}" for name, row in OPERATIONS.items()}
REFUSED = Q(status__gte=400, service_requests=0, is_replayed=False)
CSV_HEADER = (
    *("request_id", "utc", "key", "member", "operation", "method", "path", "status", "code"),
    *("credits", "credits_may_be", "charge_id", "video_id", "replayed", "service_requests"),
    *("total_ms", "waited_ms", "service_ms", "client_ip", "user_agent"),
)


@dataclass(frozen=True, slots=True)
class RequestFilters(PageFilters):
    PAGE: ClassVar[str] = "api-requests"
    CURSOR: ClassVar[str] = "before"
    ID: ClassVar[str] = "api-request"
    KEPT: ClassVar[tuple[str, ...]] = ("period",)

    search: str = search_field()
    key: UUID | None = id_field("Key", lookup="key")
    member: int | None = number_field("Member", lookup="key__owner", unset="everyone")
    operation: str = choice_field(OPERATION_LABELS, "Operation", lookup="operation")
    status: str = choice_field(STATUS_LABELS, "Status")
    replayed: str = choice_field({"": "any", "yes": "yes", "no": "no"}, "Replayed")
    period: str = choice_field(PERIOD_LABELS, "Period", plain=True, narrows=False)
    before: Cursor | None = cursor_field(datetime, UUID)


def filter_requests(reader: Membership, filters: RequestFilters) -> QuerySet[GatewayRequest]:
    """The rows of all pages, newest first; the id of a request finds it in any period. Raises
    `Http404` for a role without API keys."""
    rows = gateway_requests(reader).select_related("key__owner", "charge")
    rows, text = rows.order_by("-received_at", "-pk"), filters.search
    if (request_id := parse_uuid(text)) is not None:
        return rows.filter(pk=request_id)
    rows = filters.narrow(rows)
    if filters.period in PERIOD_DAYS:
        first = start_of_day(PERIOD_DAYS[filters.period], reader.team.tenant.zone)
        rows = rows.filter(received_at__gte=first)
    if text:
        rows = rows.filter(Q(path__icontains=text) | Q(code__icontains=text))
    if filters.status == "reelroom":
        rows = rows.filter(REFUSED)
    elif filters.status:
        rows = rows.filter(status__gte=int(filters.status[0]) * 100)
        rows = rows.filter(status__lt=(int(filters.status[0]) + 1) * 100)
    if filters.replayed:
        rows = rows.filter(is_replayed=filters.replayed == "yes")
    return rows


def load_requests(reader: Membership, filters: RequestFilters) -> dict[str, Any]:
    """Four queries. Raises `Http404` for a role without API keys."""
    matching = filter_requests(reader, filters)
    page = load_list(filters, matching, PAGE_SIZE, **load_key_options(reader))
    return {
        "list": page,
        "rows": [build_row(row) for row in page.rows],
        "hour": load_last_hour(gateway_requests(reader)),
        "zone": reader.team.tenant.zone.key.replace("_", " "),
        "kept_days": settings.GATEWAY_LOG_DAYS,
        "is_own": not has_permission(reader, Permission.VIEW_AUDIT),
        "export_url": filters.url("api-requests-export"),
    }


def load_last_hour(visible: QuerySet[GatewayRequest]) -> Mapping[str, Any]:
    """Figures of the last hour; of a whole day a busy script would have millions of rows."""
    rows = visible.filter(received_at__gte=timezone.now() - timedelta(hours=1))
    return rows.order_by().aggregate(
        all=Count("pk"),
        sent=Sum("service_requests", default=0),
        replayed=Count("pk", filter=Q(is_replayed=True)),
        refused=Count("pk", filter=REFUSED),
        waited=Count("pk", filter=Q(waited_ms__gt=LONG_WAIT_MS)),
        limited=Count("pk", filter=Q(status=429)),
    )


def load_key_options(reader: Membership) -> dict[str, Any]:
    """One query: the keys that the reader may see, with their members if they see those of
    others."""
    keys = ApiKey.objects.filter(tenant=reader.team.tenant_id)
    is_own = not has_permission(reader, Permission.VIEW_AUDIT)
    if is_own:
        keys = keys.filter(owner=reader.user_id)
    keys = keys.select_related("owner").order_by("name", "created_at")
    endings = {key.pk: f" …{key.last_four}" if key.last_four else ", agent" for key in keys}
    names = {str(key.pk): f"{key.name}{endings[key.pk]}" for key in keys}
    members = {str(key.owner_id): str(key.owner) for key in keys}
    return {"key": names, "member": None if is_own else members}


def load_request(reader: Membership, row: GatewayRequest) -> dict[str, Any]:
    """Three queries. `newer` and `older` are None at the ends of what the reader may see."""
    visible = gateway_requests(reader)
    older, newer = visible.order_by("-received_at", "-pk"), visible.order_by("received_at", "pk")
    charge = row.charge
    texts = open_charge_texts(charge, timezone.now(), "") if charge and charge.is_open else None
    return {
        "row": build_row(row),
        "charge_text": texts.detail if texts else charge.reason if charge else "",
        "debit": charge.entries.filter(amount__lt=0).first() if charge else None,
        "job_url": job_page_url(row.job),
        "timeline": list(iter_bars(row, row.total_ms)),
        "newer": rows_after(newer, cursor_at(newer, row)).first(),
        "older": rows_after(older, cursor_at(older, row)).first(),
    }


# CSV ---------------------------------------------------------------------------------------------
def export_header(rows: object = None) -> str:
    return UTF8_BOM + render_csv([CSV_HEADER])


def export_chunk(
    rows: QuerySet[GatewayRequest], before: Cursor | None
) -> tuple[str, Cursor | None]:
    """The text of the rows after a cursor, and the cursor at their end; None if there are no
    more."""
    page = list(rows_after(rows, before)[:EXPORT_CHUNK_ROWS])
    text = render_csv([csv_cells(row) for row in page])
    return text, cursor_at(rows, page[-1]) if len(page) == EXPORT_CHUNK_ROWS else None


def csv_cells(row: GatewayRequest) -> tuple[object, ...]:
    """`credits` is empty while they are not known; `credits_may_be` is then what they may be."""
    spent, amount = spent_on(row)
    known = Decimal(0) if spent is Spent.FREE else amount
    is_unknown = spent is Spent.UNKNOWN
    at = row.received_at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")
    return (
        *(row.pk, at, row.key.name, str(row.key.owner), row.operation, method_of(row), row.path),
        *(row.status, row.code, "" if is_unknown else PlainNumber(amount_text(known))),
        *(PlainNumber(amount_text(amount)) if is_unknown else "", row.charge_id, row.job_id),
        *("yes" if row.is_replayed else "no", row.service_requests, row.total_ms, row.waited_ms),
        *(row.service_ms, row.client_ip, row.user_agent),
    )
