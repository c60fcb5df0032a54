"""The filtered requests as CSV, in chunks, newest first."""

from __future__ import annotations

from datetime import UTC
from decimal import Decimal

from django.db.models import QuerySet

from dashboard.api_requests.filters import RequestCursor, rows_before
from dashboard.api_requests.rows import Spent, method_of, spent_on
from dashboard.shared.file_export import UTF8_BOM, PlainNumber, render_csv
from proxyapi.models import GatewayRequest
from proxyapi.models.account import amount_text

EXPORT_CHUNK_ROWS = 2_000  # rows per query
CSV_HEADER = (
    *("request_id", "utc", "key", "member", "operation", "method", "path", "status", "code"),
    *("credits", "credits_may_be", "charge_id", "video_id", "replayed", "service_requests"),
    *("total_ms", "waited_ms", "service_ms", "client_ip", "user_agent"),
)


def export_header() -> str:
    return UTF8_BOM + render_csv([CSV_HEADER])


def export_chunk(
    rows: QuerySet[GatewayRequest], before: RequestCursor | None
) -> tuple[str, RequestCursor | None]:
    """The text of the rows before a cursor, and the cursor at their end; None if there are no
    more."""
    page = list(
        rows_before(rows, before).select_related("key__owner", "charge")[:EXPORT_CHUNK_ROWS]
    )
    text = render_csv([csv_cells(row) for row in page])
    last = page[-1] if len(page) == EXPORT_CHUNK_ROWS else None
    return text, RequestCursor(last.received_at, last.pk) if last else None


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
