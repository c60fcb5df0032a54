"""The export of the request log: CSV that is no formula, of the rows that were asked for."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from dashboard.api_requests import pages
from dashboard.api_requests.pages import (
    CSV_HEADER,
    RequestFilters,
    export_chunk,
    filter_requests,
)
from dashboard.models import Membership
from dashboard.shared.query_params import Cursor
from proxyapi.models import ApiKey, ChargeState
from tests.dashboard.api_requests.requests import log_request, make_key
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql
Browser = Callable[[Membership], Client]


@pytest.fixture
def key(priya: Membership) -> ApiKey:
    return make_key(priya)


def csv_rows(reader: Membership) -> list[dict[str, str]]:
    text, before = "", None
    while True:
        part, before = export_chunk(filter_requests(reader, RequestFilters(period="all")), before)
        text += part
        if before is None:
            return list(csv.DictReader(io.StringIO(text), fieldnames=CSV_HEADER))


def test_a_row_has_what_the_page_shows(mira: Membership, key: ApiKey) -> None:
    account = AccountFactory.create(tenant=key.tenant)
    job = JobFactory.create(account=account, token=TokenFactory(account=account, owner=key.owner))
    lost = ChargeFactory.create(
        job=job, state=ChargeState.UNKNOWN, quote=Decimal(42), sent_at=timezone.now()
    )
    path = {"operation": "faceless.render", "path": "/faceless/7/render", "status": 202}
    log_request(key, charge=lost, job=job, **path)
    log_request(key, is_replayed=True, service_requests=0, **path)
    log_request(key)
    free, replayed, unknown = csv_rows(mira)
    assert (unknown["credits"], unknown["credits_may_be"]) == ("", "42")
    assert (unknown["charge_id"], unknown["video_id"]) == (str(lost.pk), str(job.pk))
    assert (replayed["credits"], replayed["replayed"]) == ("0", "yes")
    assert (free["credits"], free["method"], free["path"]) == ("0", "GET", "/faceless/4802")
    assert (free["key"], free["member"]) == ("nightly-shorts", "Priya Raman")


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1+2", "@SUM(A1)"])
def test_no_cell_is_a_formula(text: str, mira: Membership, priya: Membership) -> None:
    log_request(make_key(priya, text), user_agent=text)
    (row,) = csv_rows(mira)
    for name in ("key", "user_agent"):
        assert not row[name].startswith(("=", "+", "-", "@"))


def test_chunks_leave_nothing_out(
    mira: Membership, key: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "EXPORT_CHUNK_ROWS", 1)
    at = timezone.now()
    for number in range(3):
        log_request(key, path=f"/{number}", received_at=at - timedelta(seconds=number // 2))
    assert sorted(row["path"] for row in csv_rows(mira)) == ["/0", "/1", "/2"]


@pytest.mark.django_db(transaction=True)
def test_the_file_has_the_filtered_rows(priya: Membership, luca: Membership) -> None:
    key = make_key(priya)
    log_request(key, path="/kept")
    log_request(key, path="/left-out", status=404)
    log_request(make_key(luca), path="/of-luca")
    text = asyncio.run(download(priya, "/api-keys/requests/export/?status=2xx"))
    assert "/kept" in text
    assert "/left-out" not in text
    assert "/of-luca" not in text


async def download(reader: Membership, url: str) -> str:
    browser = AsyncClient()
    await browser.aforce_login(reader.user)
    answer: Any = await browser.get(url)
    assert answer["Content-Disposition"].startswith('attachment; filename="requests-today')
    return b"".join([part async for part in answer.streaming_content]).decode()


def test_a_filter_that_is_not_read_gives_no_file(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    answer = client_of(mira).get("/api-keys/requests/export/?status=6xx")
    assert answer.status_code == 400
    assert "6xx" in answer.content.decode()


def test_a_cursor_is_read_back_from_its_text(key: ApiKey) -> None:
    row = log_request(key)
    cursor = Cursor((row.received_at, row.pk))
    assert RequestFilters.parse({"before": str(cursor)}).before == cursor
