"""The request log, one request, and the CSV export."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from dashboard.api_requests.export import export_chunk, export_header
from dashboard.api_requests.filters import (
    RequestCursor,
    RequestFilters,
    filter_requests,
    parse_request_filters,
)
from dashboard.api_requests.pages import load_request, load_requests
from dashboard.shared.access import fetch_gateway_request, gateway_requests
from dashboard.shared.connections import release_connections, release_request_thread
from dashboard.shared.file_export import empty_stream, refuse_file, stream_file
from dashboard.shared.http import TeamRequest
from dashboard.shared.live.event_stream import run_in_thread
from dashboard.shared.query_params import unread_param_text
from proxyapi.models import GatewayRequest

FILTER_FORM_ID = "api-request-filters"


@require_safe
@vary_on_headers("HX-Request")
def request_log(request: TeamRequest) -> HttpResponse:
    filters = parse_request_filters(request.GET.dict())
    context = load_requests(request.membership, filters)
    if not request.htmx or request.htmx.history_restore_request:
        return render(request, "api_requests/list.html", context)
    response = render(request, "api_requests/updated.html", context)
    return push_url(response, filters.url()) if request.htmx.trigger == FILTER_FORM_ID else response


@require_safe
@vary_on_headers("HX-Request")
def request_detail(request: TeamRequest, request_id: UUID) -> HttpResponse:
    """One request as a drawer; without htmx over the list."""
    row = fetch_gateway_request(request, request_id)
    context = load_request(request.membership, row)
    if request.htmx:
        return render(request, "api_requests/request.html", {**context, "fragment": True})
    context |= load_requests(request.membership, RequestFilters())
    return render(request, "api_requests/request_page.html", context)


@require_safe
async def export_requests(request: TeamRequest) -> HttpResponseBase:
    """CSV of all requests that match the filters."""
    rows, query = gateway_requests(request.membership), request.GET.dict()
    filters = parse_request_filters(query)
    if problem := unread_param_text(filters, query):
        return await sync_to_async(refuse_file)(request, problem)
    # The export may take minutes: release the middleware's database connection first.
    await sync_to_async(release_connections)()
    rows = filter_requests(rows, filters, request.team.tenant)
    lines = empty_stream() if request.method == "HEAD" else stream_rows(rows)
    return stream_file(lines, export_filename(filters), "text/csv")


async def stream_rows(rows: QuerySet[GatewayRequest]) -> AsyncIterator[str]:
    release_request_thread()
    yield export_header()
    before: RequestCursor | None = None
    while True:
        text, before = await run_in_thread(export_chunk, rows, before)
        yield text
        if before is None:
            return


def export_filename(filters: RequestFilters) -> str:
    days = f"{filters.period}-days" if filters.period.isdigit() else filters.period or "today"
    narrowed = "-filtered" if filters.is_narrowed else ""
    return f"requests-{days}-to-{timezone.localdate():%Y-%m-%d}{narrowed}.csv"
