"""The ledger as a file: streamed, and between two stretches it holds no database connection."""

from __future__ import annotations

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.http import HttpResponseBase, StreamingHttpResponse
from django.views.decorators.http import require_safe

from dashboard.ledger.queries.csv_export import (
    build_export_source,
    export_csv_chunk,
    export_csv_header,
)
from dashboard.ledger.queries.filters import LedgerCursor, LedgerFilters, parse_ledger_filters
from dashboard.models import Team
from dashboard.shared.access import check_permission
from dashboard.shared.connections import release_connections, release_request_thread
from dashboard.shared.http import TeamRequest
from dashboard.shared.live.event_stream import run_in_thread
from dashboard.shared.roles import Permission


@require_safe
async def export_ledger(request: TeamRequest) -> HttpResponseBase:
    check_permission(request.membership, Permission.VIEW)
    filters = parse_ledger_filters(request.GET.dict())
    # It may last for minutes: the connection that the middleware used goes back before.
    await sync_to_async(release_connections)()
    lines = empty_stream() if request.method == "HEAD" else stream_csv(request.team, filters)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{export_filename(filters)}"'
    response["X-Accel-Buffering"] = "no"
    # GZipMiddleware makes each part of a stream a gzip of its own, and browsers read the first one.
    response["Content-Encoding"] = "identity"
    return response


async def stream_csv(team: Team, filters: LedgerFilters) -> AsyncIterator[str]:
    release_request_thread()
    source = await run_in_thread(build_export_source, team, filters)
    yield export_csv_header()
    place: LedgerCursor | None = None
    while True:
        text, place = await run_in_thread(export_csv_chunk, source, place)
        yield text
        if place is None:
            return


async def empty_stream() -> AsyncIterator[str]:
    """The body of an answer to HEAD."""
    for _ in ():
        yield ""


def export_filename(filters: LedgerFilters) -> str:
    first, between, last = filters.period.partition("..")
    days = (
        f"{first}-to-{last}" if first and last else f"since-{first}" if first else f"until-{last}"
    )
    period = days if between else first or "30-days"
    return f"ledger-{period}{'-filtered' if filters.is_narrowed else ''}.csv"
