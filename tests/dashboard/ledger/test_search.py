"""A search finds rows by the names they have: of the service, of features, of people, of videos."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.ledger.queries import search
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from proxyapi.models import Job, LedgerMirror
from tests.dashboard.ledger.conftest import days_ago, sum_up
from tests.dashboard.ledger.test_csv_export import export_rows
from tests.factories import EntryFactory

pytestmark = pytest.mark.postgresql

MOST_QUERIES = 16


def page(reader, **query) -> dict[str, Any]:
    return load_ledger_page(
        reader, parse_ledger_filters({name: str(value) for name, value in query.items()})
    )


def amounts(shown: dict[str, Any]) -> list[int]:
    return sorted(
        int(row["entry"].amount) for day in shown["entries"]["page"].days for row in day.rows
    )


@pytest.fixture
def mixed_entries(add_entry, luca) -> None:
    """Glaciers of Priya's unless said otherwise; one film of Luca's about harbours."""
    add_entry("-96")
    add_entry("-14", operation="faceless.export", label="Faceless video export")
    add_entry("-42", by=None, label="Text to video")
    add_entry("-7", happened_at=days_ago(days=40))
    harbour = add_entry(
        "-4", member=luca.user, operation="faceless.scripts", label="Script generation"
    )
    harbour.job.title = "Harbours at 100 % noon"
    harbour.job.save()


@pytest.mark.usefixtures("mixed_entries")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("harbour", [-4]),
        ("HARBOURS  at", [-4]),
        ("100 %", [-4]),
        ("%", [-4]),
        ("glacier", [-96, -14]),
        ("luca", [-4]),
        ("raman", [-96, -14]),
        ("text to", [-42]),
        ("export", [-14]),
        ("faceless", [-96, -14]),
        ("script", [-4]),
        ("r", [-96, -14, -4]),
        ("no such thing", []),
        ("", [-96, -42, -14, -4]),
    ],
)
def test_a_text_finds_labels_features_people_and_titles(text, left, thea):
    shown = page(thea, q=text)
    assert amounts(shown) == left
    assert (shown["totals"]["figures"].net, shown["list"].total) == (sum(left), len(left))


@pytest.mark.usefixtures("mixed_entries")
@pytest.mark.parametrize(
    ("query", "left"),
    [
        ({"q": "glacier", "period": "all"}, [-96, -14, -7]),
        ({"q": "glacier", "feature": "faceless.export"}, [-14]),
        ({"q": "faceless", "direction": "in"}, []),
        ({"q": "video", "match": "no"}, [-42]),
        ({"q": "video", "source": "api", "sort": "oldest"}, [-96, -42, -14]),
    ],
)
def test_a_search_is_one_filter_of_several(query, left, thea):
    shown = page(thea, **query)
    assert amounts(shown) == left
    assert int(shown["totals"]["figures"].net) == sum(left)


@pytest.mark.usefixtures("mixed_entries")
def test_it_also_searches_within_one_video_or_member(thea, luca, add_entry):
    entry = add_entry("-11", label="Retouch")
    assert amounts(page(thea, q="retouch", job=entry.job_id)) == [-11]
    assert amounts(page(thea, q="harbour", job=entry.job_id)) == []
    assert amounts(page(thea, q="script", member=luca.user_id)) == [-4]
    assert amounts(page(thea, q="export", member=luca.user_id)) == []


def test_pages_of_a_search_hold_each_row_once(add_entry, account, thea, monkeypatch):
    monkeypatch.setattr("dashboard.ledger.queries.rows.LEDGER_PAGE_SIZE", 2)
    for hours in range(7):
        add_entry(f"-{hours + 1}", happened_at=days_ago(hours=30 * hours))
    add_entry("-50", by=None, label="Glacier pack", happened_at=days_ago(hours=31))
    seen: list[int] = []
    query = {"q": "glacier"}
    while True:
        shown = page(thea, **query)
        seen += amounts(shown)
        if not shown["entries"]["page"].next_url:
            break
        place = shown["entries"]["page"].next_url.partition("after=")[2]
        query = {"q": "glacier", "after": place.partition("&")[0]}
    assert sorted(seen) == [-50, *range(-7, 0)]
    assert shown["totals"]["figures"].net == Decimal(-78)


def test_too_many_videos_of_a_name_are_said(add_entry, thea, monkeypatch):
    monkeypatch.setattr(search, "MAX_FOUND_VIDEOS", 2)
    for number in range(3):
        job = add_entry(f"-{number + 1}", happened_at=days_ago(hours=3 - number)).job
        Job.objects.filter(pk=job.pk).update(created_at=days_ago(hours=4 - number))
    shown = page(thea, q="glacier")
    assert amounts(shown) == [-3, -2]
    (banner,) = shown["totals"]["banners"]
    assert banner.title == "Only the newest 2 videos of this name are listed."


def test_labels_are_found_however_many_there_are(add_entry, account, thea, monkeypatch):
    """A service may write a title into each entry: a list of names ends before the last."""
    for number in range(1_002):
        title = f"Film {number:04}"
        EntryFactory.create(account=account, label=title, happened_at=days_ago(hours=1))
    sum_up(account)
    assert len(amounts(page(thea, q="film 1001"))) == 1
    monkeypatch.setattr(search, "MAX_FOUND_LABELS", 3)
    shown = page(thea, q="film 010")
    assert shown["list"].total == 3
    assert [banner.title for banner in shown["totals"]["banners"]] == [
        "Only the first 3 labels of this name are listed."
    ]


def test_of_a_long_ledger_only_the_newest_titles_are_searched(add_entry, thea, monkeypatch):
    """Days that end earlier bring older ones within reach."""
    monkeypatch.setattr(search, "MAX_TITLES_SEARCHED", 2)
    monkeypatch.setattr(search, "LONG_LEDGER_ROWS", 2)
    for days in range(3):
        entry = add_entry(f"-{days + 1}", happened_at=days_ago(hours=24 * days))
        Job.objects.filter(pk=entry.job_id).update(created_at=days_ago(hours=24 * days + 1))
    assert amounts(page(thea, q="glacier")) == [-3, -2, -1]
    LedgerMirror.objects.filter(pk=entry.account_id).update(high=3)
    shown = page(thea, q="glacier")
    assert amounts(shown) == [-2, -1]
    (banner,) = shown["totals"]["banners"]
    assert banner.title == "Only the titles of the newest 2 videos were searched."
    assert amounts(page(thea, q="glacier", period=f"..{days_ago(hours=24).date()}")) == [-3, -2]


@pytest.mark.usefixtures("mixed_entries")
def test_the_file_has_the_rows_of_the_search(thea):
    assert {row["credit_spend"] for row in export_rows(thea, {"q": "glacier"})} == {"-96", "-14"}
    assert export_rows(thea, {"q": "nothing of it"}) == []


def test_a_stranger_finds_nothing_of_ours(add_entry, otto):
    add_entry()
    for text in ("glacier", "Priya", "Faceless"):
        assert amounts(page(otto, q=text)) == []


@pytest.mark.usefixtures("mixed_entries")
@pytest.mark.parametrize("text", ["glacier", "r", "zzz", "<b>x</b>"])
def test_a_search_takes_few_queries(text, client_of, thea):
    browser = client_of(thea)
    with CaptureQueriesContext(connection) as asked:
        html = browser.get("/ledger/", {"q": text}).content.decode()
    assert len(asked) <= MOST_QUERIES
    assert "<b>x" not in html
