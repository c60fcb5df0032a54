"""The range of the run-out: honest with few days, and without chance what the sandbox does."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxyapi.forecast import Day, Pattern, Start, foresee, pattern_of
from proxyapi.forecast.runout import one, resting_days
from tests.proxyapi.forecast.conftest import Rules, charges

TODAY = date(2026, 11, 20)  # a Friday


def even(day: Day, known: int = 56) -> Pattern:
    return Pattern(known, tuple([day] for _ in range(7)))


@pytest.mark.parametrize("units", [0, 1, 2])
@pytest.mark.parametrize("opening", [90, 450, 1003])
def test_even_days_run_out_when_the_sandbox_refuses(units: int, opening: int) -> None:
    rules = Rules(opening, 1000, units or None)
    day, refused_on = Day(api=470, size=47), None
    for number in range(60):
        at = datetime(2026, 11, 20, 12, tzinfo=UTC) + timedelta(days=number)
        if rules.live([(at, -47, True)] * 10).refused and refused_on is None:
            refused_on = TODAY + timedelta(days=number)
    start = Start(TODAY, opening, threshold=100, credits=100 * units)
    found = foresee(start, even(day), "seed")
    assert (found.early, found.middle, found.late) == (refused_on,) * 3
    assert found.lasting == (100 if refused_on is None else 0)
    assert found.bands[-1].middle == rules.account.balance


pools = st.lists(
    st.builds(
        Day,
        api=st.integers(0, 500),
        size=st.integers(1, 80),
        outside=st.sampled_from([0, 0, 20]),
    ),
    min_size=1,
    max_size=4,
)


@given(
    st.tuples(*[pools] * 7),
    st.integers(0, 900),
    st.sampled_from([None, 1, 4]),
    st.integers(0, 99),
)
@settings(max_examples=40)
def test_a_drawn_future_is_what_the_sandbox_makes_of_the_same_days(
    drawn_from: tuple[list[Day], ...], opening: int, units: int | None, seed: int
) -> None:
    """The same chance draws the same days; the sandbox lives them charge by charge."""
    pattern, horizon = Pattern(56, drawn_from), 12
    chance, same = (random.Random(seed) for _ in range(2))  # noqa: S311 - draws, not secrets
    rules = Rules(opening, 1000, units)
    balances, end, noon = [], horizon, datetime(2026, 11, 20, 12, tzinfo=UTC)
    for number in range(horizon):
        day = pattern.draw(TODAY + timedelta(days=number), chance)
        lived = rules.live(charges(day, noon + timedelta(days=number)))
        balances.append(lived.balance)
        if lived.refused and end == horizon:
            end = number
    start = Start(TODAY, opening, threshold=100, credits=100 * (units or 0))
    run = one(start, pattern, same, horizon)
    assert (run.balances, run.end, run.top_ups) == (balances, end, rules.topped_up())


def test_a_day_is_drawn_from_its_own_weekday() -> None:
    """Nothing is spent on weekends, so nobody runs out on one."""
    spent = {
        TODAY - timedelta(days=back): Day(api=100 + back, size=10)
        for back in range(1, 57)
        if (TODAY - timedelta(days=back)).weekday() < 5
    }
    pattern = pattern_of(spent, min(spent), TODAY)
    assert pattern.knows_weekdays
    assert {day.api for day in pattern.by_weekday[6]} == {0}
    found = foresee(Start(TODAY, 1200), pattern, "seed")
    assert found.early and found.middle and found.late
    assert TODAY < found.early <= found.middle <= found.late
    assert found.early.weekday() < 5


def test_few_days_say_so_and_three_weeks_know_weekdays() -> None:
    one = {TODAY - timedelta(days=1): Day(api=10)}
    for known, enough, weekdays in ((3, False, False), (7, True, False), (21, True, True)):
        pattern = pattern_of(one, TODAY - timedelta(days=known), TODAY)
        assert (pattern.known, pattern.is_enough, pattern.knows_weekdays) == (
            known,
            enough,
            weekdays,
        )


def test_today_is_no_whole_day_and_what_came_in_is_no_habit() -> None:
    days = {TODAY: Day(api=999), TODAY - timedelta(days=2): Day(api=5, into=6000)}
    pattern = pattern_of(days, TODAY - timedelta(days=7), TODAY)
    drawn = [day for pool in pattern.by_weekday for day in pool]
    assert max(day.api for day in drawn) == 5
    assert max(day.into for day in drawn) == 0
    assert pattern_of({}, TODAY, TODAY).known == 0


def test_the_same_numbers_say_the_same_and_wilder_days_a_wider_range() -> None:
    calm = even(Day(api=100, size=10))
    wild = Pattern(56, tuple([Day(api=10, size=10), Day(api=190, size=10)] for _ in range(7)))
    start = Start(TODAY, 2000)
    assert foresee(start, wild, "a") == foresee(start, wild, "a")
    tame, broad = foresee(start, calm, "a"), foresee(start, wild, "a")
    assert tame.early == tame.late
    assert broad.early and broad.late and broad.early < broad.late
    assert broad.spend_a_day == 100
    assert broad.lasting_to(TODAY) == 100
    assert 85 <= broad.lasting_to(broad.early) <= 100
    assert broad.lasting_to(broad.late) <= 25


def test_nothing_spent_lasts_beyond_the_horizon() -> None:
    found = foresee(Start(TODAY, 10), even(Day()), "seed")
    assert (found.early, found.late, found.lasting) == (None, None, 100)
    assert found.lasting_to(TODAY + timedelta(days=60)) == 100


def test_top_up_rests_after_a_failure_and_counts_what_today_has_had() -> None:
    day = Day(api=100, size=10)
    held_back = foresee(Start(TODAY, 90, 100, 100, resting=2), even(day), "seed")
    assert held_back.early == TODAY
    used_up = foresee(Start(TODAY, 90, 100, 100, today=3), even(day), "seed")
    assert used_up.early == TODAY
    free = foresee(Start(TODAY, 90, 100, 100, today=2), even(day), "seed")
    assert free.early is None


def test_the_day_a_rest_ends_on_counts_as_one() -> None:
    now = datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert resting_days(None, now) == resting_days(now, now) == 0
    assert resting_days(now + timedelta(hours=24), now) == 2
    assert resting_days(now + timedelta(hours=3), now) == 1
