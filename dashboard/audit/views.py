"""The audit log, one entry, the verification of its chain, and the export."""

from __future__ import annotations

from collections.abc import AsyncIterator

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from dashboard.audit.actions import request_chain_check
from dashboard.audit.queries.chain_state import load_chain_state
from dashboard.audit.queries.entry_page import build_entry_page
from dashboard.audit.queries.export import (
    AuditExport,
    ExportFormat,
    build_audit_export,
    export_audit_chunk,
    export_audit_header,
)
from dashboard.audit.queries.filters import AuditFilters, parse_audit_filters
from dashboard.audit.queries.page import build_audit_page
from dashboard.models import AuditAction
from dashboard.shared.access import fetch_audit_entry, require_visible
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.connections import release_connections, release_request_thread
from dashboard.shared.file_export import empty_stream, refuse_file, stream_file
from dashboard.shared.http import TeamRequest
from dashboard.shared.live.event_stream import run_in_thread
from dashboard.shared.query_params import unread_param_text
from dashboard.shared.roles import Permission

LIST_TEMPLATE = "audit/list.html"
FILTER_FORM_ID = "audit-filters"
CONTENT_TYPES = {
    ExportFormat.CSV: "text/csv",
    ExportFormat.JSON_LINES: "application/x-ndjson",
}


@require_safe
@vary_on_headers("HX-Request")
def audit_log(request: TeamRequest) -> HttpResponse:
    """The page; `?part=` returns the chain's state or the entries, which refresh themselves."""
    require_visible(request.membership, Permission.VIEW_AUDIT)
    filters = parse_audit_filters(request.GET.dict())
    if request.GET.get("part") == "chain":
        require_visible(request.membership, Permission.OPERATE)
        return render(request, "audit/_chain.html", {"chain": load_chain_state(request.team.pk)})
    context = {"page": build_audit_page(request.membership, filters)}
    if request.GET.get("part") == "entries":
        return render(request, "audit/_entries.html", context)
    if not request.htmx or request.htmx.history_restore_request:
        return render(request, LIST_TEMPLATE, context)
    response = render(request, "audit/updated.html", context)
    return push_url(response, filters.url()) if request.htmx.trigger == FILTER_FORM_ID else response


@require_safe
@vary_on_headers("HX-Request")
def entry(request: TeamRequest, position: int) -> HttpResponse:
    """One entry as a drawer; without htmx over the list."""
    event = fetch_audit_entry(request, position)
    context: dict[str, object] = {"entry": build_entry_page(request.membership, event)}
    if request.htmx:
        return render(request, "audit/entry.html", {**context, "fragment": True})
    context["page"] = build_audit_page(request.membership, AuditFilters())
    return render(request, "audit/entry_page.html", context)


@require_POST
def check_chain(request: TeamRequest) -> HttpResponse:
    request_chain_check(by=request.membership)
    if request.htmx:
        return render(request, "audit/_chain.html", {"chain": load_chain_state(request.team.pk)})
    return redirect("audit")


@require_safe
async def export_audit_log(request: TeamRequest) -> HttpResponseBase:
    """CSV, or JSON lines with `?format=jsonl`, of all entries that match the filters."""
    require_visible(request.membership, Permission.VIEW_AUDIT)
    query = request.GET.dict()
    filters, format_name = parse_audit_filters(query), query.get("format") or ExportFormat.CSV
    problem = unread_param_text(filters, query)
    if format_name not in list(ExportFormat):
        problem = "A file is made as csv or jsonl."
    if problem:
        return await sync_to_async(refuse_file)(request, problem)
    file_format = ExportFormat(format_name)
    if request.method != "HEAD":
        name = export_filename(filters, file_format)
        await sync_to_async(record_audit_event)(request.membership, AuditAction.AUDIT_EXPORT, name)
    # The export may take minutes: release the middleware's database connection first.
    await sync_to_async(release_connections)()
    is_head = request.method == "HEAD"
    lines = empty_stream() if is_head else stream_entries(request, filters, file_format)
    return stream_file(lines, export_filename(filters, file_format), CONTENT_TYPES[file_format])


async def stream_entries(
    request: TeamRequest, filters: AuditFilters, file_format: ExportFormat
) -> AsyncIterator[str]:
    release_request_thread()
    export: AuditExport = await run_in_thread(
        build_audit_export, request.membership, filters, file_format
    )
    yield export_audit_header(export)
    before: int | None = None
    while True:
        text, before = await run_in_thread(export_audit_chunk, export, before)
        yield text
        if before is None:
            return


def export_filename(filters: AuditFilters, file_format: ExportFormat) -> str:
    days = {"today": "today", "all": "all"}.get(filters.period, f"{filters.period or 30}-days")
    narrowed = "-filtered" if filters.is_narrowed else ""
    return f"audit-{days}-to-{timezone.localdate():%Y-%m-%d}{narrowed}.{file_format}"
