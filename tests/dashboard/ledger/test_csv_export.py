"""The file: the same rows as the page, safe to open in a spreadsheet, streamed."""

from __future__ import annotations

import asyncio
import csv
import io
from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from django.test.utils import CaptureQueriesContext

from dashboard.demo.large_team.build import SeedSize, seed_team
from dashboard.ledger.queries import csv_export
from dashboard.ledger.queries.csv_export import (
    CSV_HEADER,
    build_export_source,
    export_csv_chunk,
    export_csv_header,
)
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.views import export_filename
from dashboard.shared.file_export import csv_cell, render_csv
from proxyapi.models import Account, LedgerEntry
from tests.dashboard.ledger.conftest import days_ago, mark_fully_read, sum_up
from tests.factories import AccountFactory, EntryFactory

pytestmark = pytest.mark.postgresql

BAD = ("=1+2", "+1", "-1+2", "@SUM(A1)", "\tx", "\rx")


def export_rows(membership, query=None) -> list[dict[str, str]]:
    """All rows, as they are when nothing is streamed."""
    source, place, text = (
        build_export_source(membership.team, parse_ledger_filters(query or {})),
        None,
        "",
    )
    while True:
        part, place = export_csv_chunk(source, place)
        text += part
        if place is None:
            return list(csv.DictReader(io.StringIO(text), fieldnames=CSV_HEADER))


async def response_text(answer: Any) -> bytes:
    return b"".join([part async for part in answer.streaming_content])


def test_a_row_has_the_services_string_and_the_attribution(add_entry, thea):
    entry = add_entry("-0.6800", booked_at="2026-11-20T12:00:00+01:00")
    (row,) = export_rows(thea)
    assert row["credit_spend"] == "-0.6800"
    assert row["created_at"] == "2026-11-20T12:00:00+01:00"
    assert (row["feature"], row["member"], row["video"]) == (
        "Render",
        "Priya Raman",
        "How to read a glacier",
    )
    assert (row["confidence"], row["through_api"]) == ("certain", "yes")
    assert row["charge_id"] == str(entry.charge_id)


@pytest.mark.parametrize("text", BAD)
def test_no_cell_is_a_formula(text, add_entry, thea):
    entry = add_entry(label=text, content_type=text, booked_at=text)
    entry.job.title = entry.member.name = entry.account.name = text
    for changed in (entry.job, entry.member, entry.account):
        changed.save()
    (row,) = export_rows(thea)
    for name in ("label", "content_type", "created_at", "video", "member", "account"):
        assert row[name] == f"'{text}", name


@pytest.mark.parametrize(
    ("text", "cell"),
    [("-96", "-96"), ("+2000", "+2000"), ("-0.68", "-0.68"), ("-1+2", "'-1+2"), ("=9", "'=9")],
)
def test_the_amount_is_a_plain_number_or_it_is_text(text, cell, add_entry, account, thea):
    EntryFactory.create(account=account, credit_spend=text, amount=-1)
    add_entry("-5")
    assert cell in {row["credit_spend"] for row in export_rows(thea)}


def test_what_is_safe_already_stays_as_it_is():
    assert [csv_cell(text) for text in ("Render", "a=b", "1; 2", "", None)] == [
        "Render",
        "a=b",
        "1; 2",
        "",
        None,
    ]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("\uff1d1+2", "'\uff1d1+2"),
        ("  =1+2", "'  =1+2"),
        ("\u200b=1", "'\u200b=1"),
        ("a;=1+2", "a;'=1+2"),
        ("=1;\uff0b2", "'=1;'\uff0b2"),
        ("a\n@b", "a\n'@b"),
    ],
)
def test_no_spreadsheet_finds_a_formula_in_any_cell(text, cell):
    assert next(csv.reader(io.StringIO(render_csv([[text]]), newline=""))) == [cell]


def test_the_file_has_the_rows_of_the_filters_in_their_order(add_entry, thea, luca):
    add_entry("-96")
    add_entry("-14", happened_at=days_ago(hours=2), member=luca.user)
    add_entry("-7", happened_at=days_ago(days=50))
    assert [row["credit_spend"] for row in export_rows(thea)] == ["-96", "-14"]
    every = export_rows(thea, {"period": "all", "sort": "oldest"})
    assert [row["credit_spend"] for row in every] == ["-7", "-14", "-96"]
    mine = export_rows(thea, {"period": "all", "member": str(luca.user_id)})
    assert [row["credit_spend"] for row in mine] == ["-14"]


def test_many_stretches_are_one_file(add_entry, account, thea, monkeypatch):
    monkeypatch.setattr(csv_export, "EXPORT_CHUNK_ROWS", 10)
    for _ in range(35):
        EntryFactory.create(account=account, happened_at=days_ago(hours=3))
    add_entry("-5")
    rows = export_rows(thea)
    assert len({row["position"] for row in rows}) == len(rows) == 36


def test_a_stretch_is_one_question(add_entry, thea):
    add_entry()
    source = build_export_source(thea.team, parse_ledger_filters({}))
    with CaptureQueriesContext(connection) as asked:
        export_csv_chunk(source, None)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("period", "name"),
    [
        ("", "ledger-30-days.csv"),
        ("2026", "ledger-2026.csv"),
        ("2026-11-03..2026-11-18", "ledger-2026-11-03-to-2026-11-18.csv"),
        ("2026-11-03..", "ledger-since-2026-11-03.csv"),
        ("..2026-11-03", "ledger-until-2026-11-03.csv"),
    ],
)
def test_the_file_is_named_after_its_days(period, name):
    assert export_filename(parse_ledger_filters({"period": period})) == name


@pytest.mark.django_db(transaction=True)
def test_it_comes_as_a_stream_with_a_name(add_entry, thea):
    add_entry("-96", label="Søren's video")

    async def fetched() -> tuple[dict[str, str], bytes]:
        browser = AsyncClient()
        await browser.aforce_login(thea.user)
        answer = await browser.get(
            "/ledger/export/?period=2026-11&direction=out", headers={"Accept-Encoding": "gzip"}
        )
        assert answer.status_code == 200
        assert answer.streaming
        return dict(answer.headers), await response_text(answer)

    headers, body = asyncio.run(fetched())
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["Content-Disposition"] == 'attachment; filename="ledger-2026-11-filtered.csv"'
    assert "no-store" in headers["Cache-Control"]
    assert headers["Content-Encoding"] == "identity"
    lines = body.decode("utf-8-sig").splitlines()
    assert lines[0] == ",".join(CSV_HEADER)
    assert "Søren's video" in lines[1]
    assert len(lines) == 2


@pytest.mark.django_db(transaction=True)
def test_the_file_of_a_stranger_has_no_row_of_ours(add_entry, otto):
    entry = add_entry("-96")

    async def fetched() -> bytes:
        browser = AsyncClient()
        await browser.aforce_login(otto.user)
        answer = await browser.get(f"/ledger/export/?account={entry.account_id}&period=all")
        return await response_text(answer)

    assert asyncio.run(fetched()).decode("utf-8-sig").splitlines() == [",".join(CSV_HEADER)]


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "Pacific/Honolulu"])
def test_no_line_is_lost_while_the_days_of_another_zone_are_recounted(mira, monkeypatch, zone):
    team = seed_team(SeedSize(entries=300, members=4, jobs=40, days=120), mira.user, seed=3)
    monkeypatch.setattr(csv_export, "EXPORT_CHUNK_ROWS", 50)
    team.tenant.time_zone = zone
    team.tenant.save()
    team.refresh_from_db()
    source, place, count = (
        csv_export.build_export_source(team, parse_ledger_filters({"period": "all"})),
        None,
        0,
    )
    while count == 0 or place is not None:
        text, place = csv_export.export_csv_chunk(source, place)
        count += text.count("\r\n")
    assert count == LedgerEntry.objects.count()


def test_a_price_per_credit_adds_columns_at_the_end(add_entry, account, thea):
    add_entry("-0.68")
    other = mark_fully_read(AccountFactory.create(tenant=thea.team.tenant))
    EntryFactory.create(account=other, happened_at=days_ago(hours=2))
    sum_up(other)
    source = build_export_source(thea.team, parse_ledger_filters({}))
    assert export_csv_header(source).strip("\ufeff\r\n") == ",".join(CSV_HEADER)
    Account.objects.filter(pk=account.pk).update(price_per_credit="0.0125", price_currency="EUR")
    source = build_export_source(thea.team, parse_ledger_filters({}))
    columns = ",".join((*CSV_HEADER, "price_per_credit", "estimated_amount", "currency"))
    assert export_csv_header(source).strip("\ufeff\r\n") == columns
    text, _ = export_csv_chunk(source, None)
    priced, unpriced = csv.reader(io.StringIO(text))
    assert priced[len(CSV_HEADER) :] == ["0.0125", "-0.0085", "EUR"]
    assert unpriced[len(CSV_HEADER) :] == ["", "", ""]
    filters = parse_ledger_filters({"account": str(other.pk)})
    assert build_export_source(thea.team, filters).header == CSV_HEADER
