"""Days, weeks and months of the team's own time zone, also where the clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.models import BudgetPeriod
from dashboard.shared.budget_usage import period_bounds, period_end_label

BERLIN, CAIRO, NEW_YORK = (
    ZoneInfo("Europe/Berlin"),
    ZoneInfo("Africa/Cairo"),
    ZoneInfo("America/New_York"),
)
ZONES = st.sampled_from(sorted(available_timezones() - {"localtime", "build/etc/localtime"}))
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31)).map(
    lambda moment: moment.replace(tzinfo=UTC)
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("period", "zone", "at", "start", "end"),
    [
        (
            BudgetPeriod.DAY,
            BERLIN,
            utc(2026, 11, 20, 12),
            utc(2026, 11, 19, 23),
            utc(2026, 11, 20, 23),
        ),
        # The UTC day is another one than the team's.
        (
            BudgetPeriod.DAY,
            NEW_YORK,
            utc(2026, 11, 20, 3),
            utc(2026, 11, 19, 5),
            utc(2026, 11, 20, 5),
        ),
        # 23 hours in March, 25 in October.
        (
            BudgetPeriod.DAY,
            BERLIN,
            utc(2026, 3, 29, 12),
            utc(2026, 3, 28, 23),
            utc(2026, 3, 29, 22),
        ),
        (
            BudgetPeriod.DAY,
            BERLIN,
            utc(2026, 10, 25, 12),
            utc(2026, 10, 24, 22),
            utc(2026, 10, 25, 23),
        ),
        # Cairo has no midnight on that day: it begins at one.
        (BudgetPeriod.DAY, CAIRO, utc(2024, 4, 26, 12), utc(2024, 4, 25, 22), utc(2024, 4, 26, 21)),
        (
            BudgetPeriod.WEEK,
            BERLIN,
            utc(2026, 11, 20, 12),
            utc(2026, 11, 15, 23),
            utc(2026, 11, 22, 23),
        ),
        (
            BudgetPeriod.MONTH,
            BERLIN,
            utc(2026, 10, 31, 12),
            utc(2026, 9, 30, 22),
            utc(2026, 10, 31, 23),
        ),
        (
            BudgetPeriod.MONTH,
            BERLIN,
            utc(2026, 12, 31, 23),
            utc(2026, 12, 31, 23),
            utc(2027, 1, 31, 23),
        ),
    ],
)
def test_a_period_is_the_teams_own(period, zone, at, start, end):
    assert period_bounds(period, zone, at) == (start, end)


@given(st.sampled_from(list(BudgetPeriod)), ZONES, MOMENTS)
def test_a_moment_lies_in_its_period_and_the_next_begins_where_it_ends(period, name, at):
    zone = ZoneInfo(name)
    span = period_bounds(period, zone, at)
    assert span.start <= at < span.end
    assert period_bounds(period, zone, span.end).start == span.end
    assert period_bounds(period, zone, span.end - timedelta(seconds=1)) == span


@pytest.mark.parametrize(
    ("period", "words"),
    [
        (BudgetPeriod.DAY, "midnight"),
        (BudgetPeriod.WEEK, "Mon 23 Nov"),
        (BudgetPeriod.MONTH, "1 Dec"),
    ],
)
def test_the_end_of_a_period_in_words(period, words):
    span = period_bounds(period, BERLIN, utc(2026, 11, 20, 12))
    assert period_end_label(period, span, BERLIN) == words
