"""The filtered entries as CSV or JSON lines, in chunks, newest first.

JSON lines hold every hashed field as it is stored, so that the chain can be verified outside the
portal: `row_hash` is the SHA-256 of the other fields of the line, as sorted ASCII JSON without
spaces. A CSV cell that a spreadsheet would read as a formula gets a leading apostrophe.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from django.db.models import QuerySet

from dashboard.audit.queries.action_words import action_title
from dashboard.audit.queries.entry_rows import source_text
from dashboard.audit.queries.field_changes import Names, list_field_changes
from dashboard.audit.queries.filters import AuditFilters, apply_audit_filters
from dashboard.audit.queries.things import load_thing_names, thing_text
from dashboard.models import AuditEvent, Membership
from dashboard.models.audit_event import HASHED_FIELDS
from dashboard.shared.access import audit_entries
from dashboard.shared.file_export import UTF8_BOM, render_csv
from dashboard.shared.lists import cursor_at, rows_after
from dashboard.shared.people import TeamPerson, load_team_people
from dashboard.shared.query_params import Cursor
from proxyapi.models import Tenant

EXPORT_CHUNK_ENTRIES = 1_000  # entries per query
AUDIT_CSV_HEADER = (
    *("entry", "utc", "actor", "actor_kind", "action", "what", "concerns", "before", "after"),
    *("from", "client_ip", "hash"),
)


class ExportFormat(StrEnum):
    CSV = "csv"
    JSON_LINES = "jsonl"


@dataclass(frozen=True, slots=True)
class AuditExport:
    """What is exported, fixed at its start."""

    entries: QuerySet[AuditEvent]
    tenant: Tenant
    people: tuple[TeamPerson, ...]
    file_format: ExportFormat


def build_audit_export(
    reader: Membership, filters: AuditFilters, file_format: ExportFormat
) -> AuditExport:
    """Two queries at most. Raises `Http404` for a role without the permission."""
    people = load_team_people(reader.team)
    entries = apply_audit_filters(audit_entries(reader), filters, reader.team.tenant, people)
    return AuditExport(entries, reader.team.tenant, people, file_format)


def export_audit_header(export: AuditExport) -> str:
    return (
        UTF8_BOM + render_csv([AUDIT_CSV_HEADER]) if export.file_format == ExportFormat.CSV else ""
    )


def export_audit_chunk(export: AuditExport, before: Cursor | None) -> tuple[str, Cursor | None]:
    """Return the text of the entries after a cursor, and the cursor at their end; None if there are
    no more."""
    events = list(rows_after(export.entries, before)[:EXPORT_CHUNK_ENTRIES])
    if export.file_format == ExportFormat.CSV:
        names = load_thing_names(events, export.tenant, export.people)
        text = render_csv([csv_cells(event, names) for event in events])
    else:
        text = "".join(f"{entry_json(event)}\n" for event in events)
    is_full = len(events) == EXPORT_CHUNK_ENTRIES
    return text, cursor_at(export.entries, events[-1]) if is_full else None


def csv_cells(event: AuditEvent, names: Names) -> tuple[object, ...]:
    changes = [change for change in list_field_changes(event, names) if change.is_changed]
    before = "; ".join(f"{one.label}: {one.before}" for one in changes if one.before)
    after = "; ".join(f"{one.label}: {one.after}" for one in changes if one.after)
    texts = (
        *(event.actor_name, event.actor_kind, event.action, action_title(event.action)),
        thing_text(event, names),
        *(before, after, source_text(event), event.client_ip, event.row_hash),
    )
    at = event.happened_at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "seconds")
    return event.position, at, *texts


def entry_json(event: AuditEvent) -> str:
    """The hashed fields and the hash, as JSON on one line."""
    return json.dumps(entry_fields(event), sort_keys=True, ensure_ascii=False)


def entry_fields(event: AuditEvent) -> dict[str, object]:
    """The hashed fields as they are stored, and the hash."""
    fields = {name: getattr(event, name) for name in HASHED_FIELDS}
    fields["team_id"] = str(event.team_id)
    fields["happened_at"] = event.happened_at.astimezone(UTC).isoformat(timespec="microseconds")
    return {**fields, "row_hash": event.row_hash}
