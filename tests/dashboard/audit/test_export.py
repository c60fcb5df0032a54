"""The export: CSV that is no formula, JSON lines from which the chain can be verified elsewhere."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient, Client

from dashboard.audit.queries import export as audit_export
from dashboard.audit.queries.export import ExportFormat, build_audit_export, export_audit_chunk
from dashboard.audit.queries.filters import AuditFilters
from dashboard.models import AuditAction, AuditEvent, Membership
from dashboard.shared.audit_log import record_audit_event

BAD = ("=1+2", "+1", "-1+2", "@SUM(A1)", "\tx", "\rx")


def export_text(reader: Membership, file_format: ExportFormat, **query: str) -> str:
    export, text, before = (
        build_audit_export(reader, AuditFilters.parse(query), file_format),
        "",
        None,
    )
    while True:
        part, before = export_audit_chunk(export, before)
        text += part
        if before is None:
            return text


def csv_rows(reader: Membership, **query: str) -> list[dict[str, str]]:
    text = export_text(reader, ExportFormat.CSV, **query)
    return list(csv.DictReader(io.StringIO(text), fieldnames=audit_export.AUDIT_CSV_HEADER))


def test_a_csv_row_has_the_words_of_the_page(
    three_rows: list[AuditEvent], mira: Membership
) -> None:
    row = csv_rows(mira)[0]
    assert (row["entry"], row["actor"], row["what"]) == ("3", "Thea Lindqvist", "Changed a budget")
    assert (row["before"], row["after"]) == ("Limit: 10 cr", "Limit: 2 cr")
    assert row["hash"] == three_rows[2].row_hash


@pytest.mark.parametrize("text", BAD)
def test_no_cell_is_a_formula(text: str, mira: Membership) -> None:
    mira.user.name = text
    record_audit_event(mira, AuditAction.LABEL_ADD, text, after={"name": text})
    (row,) = csv_rows(mira)
    for name in ("actor", "concerns", "after"):
        assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r")), name


def test_json_lines_verify_the_chain_without_the_portal(
    three_rows: list[AuditEvent], mira: Membership
) -> None:
    lines = [json.loads(line) for line in export_text(mira, ExportFormat.JSON_LINES).splitlines()]
    previous = ""
    for line in reversed(lines):
        row_hash = line.pop("row_hash")
        canonical = json.dumps(line, sort_keys=True, separators=(",", ":"))
        assert hashlib.sha256(canonical.encode()).hexdigest() == row_hash
        assert line["previous_hash"] == previous
        previous = row_hash
    assert len(lines) == 3


def test_chunks_leave_nothing_out(
    three_rows: list[AuditEvent], mira: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_export, "EXPORT_CHUNK_ENTRIES", 1)
    assert [row["entry"] for row in csv_rows(mira)] == ["3", "2", "1"]


def test_an_export_is_filtered_as_the_page(three_rows: list[AuditEvent], mira: Membership) -> None:
    assert csv_rows(mira, what="members") == []


def test_a_treasurer_exports_money_alone(
    three_rows: list[AuditEvent], mira: Membership, thea: Membership
) -> None:
    record_audit_event(mira, AuditAction.MEMBER_ROLE, 1)
    assert [row["entry"] for row in csv_rows(thea)] == ["3", "2", "1"]
    assert len(csv_rows(mira)) == 4


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("query", "kind", "start"),
    [
        ("", "text/csv; charset=utf-8", "\ufeffentry,utc,actor"),
        ("?format=jsonl", "application/x-ndjson; charset=utf-8", '{"action"'),
    ],
)
def test_the_file_is_streamed(
    query: str, kind: str, start: str, three_rows: object, mira: Membership
) -> None:
    async def fetch() -> tuple[int, str, str]:
        browser = AsyncClient()
        await browser.aforce_login(mira.user)
        answer: Any = await browser.get(f"/audit/export/{query}")
        body = b"".join([part async for part in answer.streaming_content])
        return answer.status_code, answer["Content-Type"], body.decode()

    status, content_type, text = asyncio.run(fetch())
    assert (status, content_type) == (200, kind)
    assert text.startswith(start)


def test_the_file_does_not_exist_for_other_roles(
    priya: Membership, client_of: Callable[[Membership], Client]
) -> None:
    assert client_of(priya).get("/audit/export/").status_code == 404
