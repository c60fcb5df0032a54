"""The audit log, one entry, the verification of its chain, and the export."""

from __future__ import annotations

from functools import partial

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.audit.actions import request_chain_check
from dashboard.audit.queries.chain_state import load_chain_state
from dashboard.audit.queries.entry_page import load_entry_page
from dashboard.audit.queries.export import (
    ExportFormat,
    build_audit_export,
    export_audit_chunk,
    export_audit_header,
)
from dashboard.audit.queries.filters import AuditFilters
from dashboard.audit.queries.page import load_audit_page
from dashboard.models import AuditAction
from dashboard.shared.access import fetch_audit_entry, require_visible
from dashboard.shared.file_export import refuse_file
from dashboard.shared.http import TeamRequest
from dashboard.shared.lists import export_list, render_list
from dashboard.shared.query_params import unread_param_text
from dashboard.shared.roles import Permission

LIST_TEMPLATE, ENTRIES_TEMPLATE = "audit/list.html", "audit/_entries.html"
CONTENT_TYPES = {
    ExportFormat.CSV: "text/csv",
    ExportFormat.JSON_LINES: "application/x-ndjson",
}


@require_safe
@vary_on_headers("HX-Request")
def audit_log(request: TeamRequest) -> HttpResponse:
    """The page; `?part=` returns the chain's state or the entries, which refresh themselves."""
    require_visible(request.membership, Permission.VIEW_AUDIT)
    filters = AuditFilters.parse(request.GET.dict())
    if request.GET.get("part") == "chain":
        require_visible(request.membership, Permission.OPERATE)
        return render(request, "audit/_chain.html", {"chain": load_chain_state(request.team.pk)})
    context = load_audit_page(request.membership, filters)
    if request.GET.get("part") == "entries":
        return render(request, ENTRIES_TEMPLATE, context)
    return render_list(request, LIST_TEMPLATE, ENTRIES_TEMPLATE, context, "audit/_actions.html")


@require_safe
@vary_on_headers("HX-Request")
def entry(request: TeamRequest, position: int) -> HttpResponse:
    """One entry as a drawer; without htmx over the list."""
    event = fetch_audit_entry(request, position)
    context: dict[str, object] = {"entry": load_entry_page(request.membership, event)}
    if request.htmx:
        return render(request, "audit/entry.html", {**context, "fragment": True})
    context |= load_audit_page(request.membership, AuditFilters())
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
    filters, format_name = AuditFilters.parse(query), query.get("format") or ExportFormat.CSV
    problem = unread_param_text(filters, query)
    if format_name not in list(ExportFormat):
        problem = "A file is made as csv or jsonl."
    if problem:
        return await sync_to_async(refuse_file)(request, problem)
    file_format = ExportFormat(format_name)
    export = partial(build_audit_export, request.membership, filters, file_format)
    return await export_list(
        request,
        export_filename(filters, file_format),
        export,
        export_audit_header,
        export_audit_chunk,
        action=AuditAction.AUDIT_EXPORT,
        content_type=CONTENT_TYPES[file_format],
    )


def export_filename(filters: AuditFilters, file_format: ExportFormat) -> str:
    days = {"today": "today", "all": "all"}.get(filters.period, f"{filters.period or 30}-days")
    narrowed = "-filtered" if filters.is_narrowed else ""
    return f"audit-{days}-to-{timezone.localdate():%Y-%m-%d}{narrowed}.{file_format}"
