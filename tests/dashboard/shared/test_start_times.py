"""Wall-clock times where the clocks change, and what a form accepts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard.shared.start_times import StartTimeForm, resolve_wall_time, wall_time

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]


@pytest.mark.parametrize(
    ("local", "instant"),
    [
        ("2026-12-03T09:00", "2026-12-03T08:00Z"),
        ("2026-03-29T01:59", "2026-03-29T00:59Z"),
        ("2026-03-29T02:00", "2026-03-29T01:00Z"),  # skipped: 3:00
        ("2026-03-29T02:30", "2026-03-29T01:00Z"),
        ("2026-03-29T03:00", "2026-03-29T01:00Z"),
        ("2026-10-25T02:30", "2026-10-25T00:30Z"),  # twice: the first
        ("2026-10-25T03:00", "2026-10-25T02:00Z"),
    ],
)
def test_a_wall_clock_time_is_an_instant(local, instant):
    resolved = resolve_wall_time(datetime.fromisoformat(local), BERLIN)
    assert resolved == datetime.fromisoformat(instant)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1)), st.sampled_from(ZONES))
def test_it_is_never_before_the_time_that_was_meant(local, name):
    local, zone = local.replace(second=0, microsecond=0, fold=0), ZoneInfo(name)
    shown = wall_time(resolve_wall_time(local, zone), zone)
    assert local <= shown <= local + timedelta(days=1)


def form(when: str, at: str = "") -> StartTimeForm:
    return StartTimeForm({"when": when, "at": at})


def at_local(monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    """Now is the start of this year, and the zone Berlin."""
    monkeypatch.setattr(timezone, "now", lambda: datetime(year, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(timezone, "get_current_timezone", lambda: BERLIN)


@pytest.mark.parametrize(
    ("at", "sentence"),
    [
        ("", "Enter a date and a time"),
        ("soon", "Enter a date and a time"),
        ("0001-01-01T00:00", "Enter a date and a time"),
        ("1970-01-01T00:00", "This time is in the past."),
        ("9999-12-31T23:59", "Enter a time within a year."),
        ("2026-01-01T01:00", "This time is in the past."),
        ("2027-01-02T01:01", "Enter a time within a year."),
        ("2026-03-29T02:30", "02:30 does not exist on that day in Europe/Berlin"),
    ],
)
def test_a_time_that_cannot_be_is_refused_with_a_sentence(monkeypatch, at, sentence):
    at_local(monkeypatch, 2026)
    refused = form("at", at)
    assert not refused.is_valid()
    assert refused.first_error().startswith(sentence)


def test_a_time_is_that_of_the_zone(monkeypatch):
    at_local(monkeypatch, 2026)
    chosen = form("at", "2026-01-01T01:01")
    assert chosen.is_valid(), chosen.errors
    assert chosen.start_time() == (datetime(2026, 1, 1, 0, 1, tzinfo=UTC), None)


def test_a_time_beside_another_choice_does_not_count():
    for when in ("", "now"):
        assert form(when, "soon").is_valid()
        chosen = form(when, "2020-01-01T09:00")
        assert chosen.is_valid()
        assert chosen.start_time() is None
    waits = form("credits", "soon")
    assert waits.is_valid()
    start = waits.start_time()
    assert start is not None
    assert start.gives_up_at == start.starts_at + timedelta(days=14)
    assert start.starts_at <= timezone.now()
