"""The request log, one request, and the CSV export."""

from __future__ import annotations

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.api_requests import pages
from dashboard.api_requests.pages import RequestFilters
from dashboard.shared.access import fetch_gateway_request
from dashboard.shared.file_export import refuse_file
from dashboard.shared.http import TeamRequest
from dashboard.shared.lists import export_list, render_list
from dashboard.shared.query_params import unread_param_text

LIST_TEMPLATE, ROWS_TEMPLATE = "api_requests/list.html", "api_requests/_rows.html"


@require_safe
@vary_on_headers("HX-Request")
def request_log(request: TeamRequest) -> HttpResponse:
    context = pages.load_requests(request.membership, RequestFilters.parse(request.GET.dict()))
    return render_list(request, LIST_TEMPLATE, ROWS_TEMPLATE, context, "api_requests/_actions.html")


@require_safe
@vary_on_headers("HX-Request")
def request_detail(request: TeamRequest, request_id: UUID) -> HttpResponse:
    """One request as a drawer; without htmx over the list."""
    row = fetch_gateway_request(request, request_id)
    context = pages.load_request(request.membership, row)
    if request.htmx:
        return render(request, "api_requests/request.html", {**context, "fragment": True})
    context |= pages.load_requests(request.membership, RequestFilters())
    return render(request, "api_requests/request_page.html", context)


@require_safe
async def export_requests(request: TeamRequest) -> HttpResponseBase:
    """CSV of all requests that match the filters."""
    query = request.GET.dict()
    filters = RequestFilters.parse(query)
    rows = pages.filter_requests(request.membership, filters)
    if problem := unread_param_text(filters, query):
        return await sync_to_async(refuse_file)(request, problem)
    days = f"{filters.period}-days" if filters.period.isdigit() else filters.period or "today"
    narrowed = "-filtered" if filters.is_narrowed else ""
    filename = f"requests-{days}-to-{timezone.localdate():%Y-%m-%d}{narrowed}.csv"
    header, chunk = pages.export_header, pages.export_chunk
    return await export_list(request, filename, lambda: rows, header, chunk)
