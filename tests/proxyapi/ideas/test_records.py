"""Ideas as the service may describe them: the spec names none of their fields."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.ideas.records import parse_count, parse_ideas

SEARCH = {"keyword": "lakes", "network": "youtube"}
IDEA = {"id": 7, "title": "Why lakes freeze", "volume": 880, "rank": 3}


def test_an_idea_takes_the_words_of_its_search_where_it_names_none() -> None:
    (record,) = parse_ideas([{**IDEA, "created_at": "2026-11-12T08:00:00+00:00"}], SEARCH)
    assert (record.remote_id, record.title, record.volume, record.rank) == (
        "7", "Why lakes freeze", 880, 3,
    )  # fmt: skip
    assert (record.keyword, record.network) == ("lakes", "youtube")
    own = {**IDEA, "keyword": "Frozen lakes", "network": "tiktok"}
    (record,) = parse_ideas([own], SEARCH)
    assert (record.keyword, record.network) == ("Frozen lakes", "tiktok")


@pytest.mark.parametrize(
    "rows",
    [
        None, "ideas", 3, {"id": 1, "title": "x"}, [None], [[IDEA]], [{"title": "No id"}],
        [{"id": True, "title": "x"}], [{"id": {}, "title": "x"}], [{"id": 1}],
        [{"id": 1, "title": ""}], [{"id": 1, "title": 9}], [{"id": 1, "title": "\x00 \u202e"}],
        [{"id": "x" * 65, "title": "x"}],
    ],
)  # fmt: skip
def test_what_is_no_idea_is_left_out(rows: Any) -> None:
    assert parse_ideas(rows, SEARCH) == []


def test_a_repeated_idea_counts_once_and_invisible_characters_go() -> None:
    rows = [IDEA, {**IDEA, "title": "  Why\u202e lakes\n\tfreeze\x07 "}]
    assert [record.title for record in parse_ideas(rows, SEARCH)] == ["Why lakes freeze"]


@pytest.mark.parametrize("name", ["name", "idea", "topic"])
def test_another_name_of_the_title_is_read_too(name: str) -> None:
    assert [it.title for it in parse_ideas([{"id": "a1", name: "Blue ice"}], {})] == ["Blue ice"]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (880, 880), ("880", 880), ("74,000", 74_000), ("12.5", 12), (Decimal("12.9"), 12), (0, 0),
        (-1, None), ("many", None), (True, None), (None, None), (10**30, None), ([], None),
        ("9" * 25, None), (Decimal("NaN"), None),
    ],
)  # fmt: skip
def test_a_count_is_a_whole_number_that_can_be_stored(value: Any, count: int | None) -> None:
    assert parse_count(value, 2**63 - 1) == count


def test_a_time_in_the_future_is_now() -> None:
    ahead = (timezone.now() + timedelta(days=3)).isoformat()
    (record,) = parse_ideas([{**IDEA, "created_at": ahead}], SEARCH)
    assert record.found_at is not None and record.found_at <= timezone.now()
    (record,) = parse_ideas([{**IDEA, "created_at": "soon"}], SEARCH)
    assert record.found_at is None
    (record,) = parse_ideas([{**IDEA, "created_at": "2026-01-02T03:04:05Z"}], SEARCH)
    assert record.found_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
