"""The range of the run-out: honest with few days, and without chance what the sandbox does."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxyapi.forecast import (
    DailyCredits,
    ForecastStart,
    SpendingPattern,
    build_spending_pattern,
    forecast_run_out,
)
from proxyapi.forecast.run_out import count_cooldown_days, simulate_run
from tests.examples import examples
from tests.proxyapi.forecast.conftest import SandboxTopUpRules, day_movements

TODAY = date(2026, 11, 20)  # a Friday


def even(day: DailyCredits, known: int = 56) -> SpendingPattern:
    return SpendingPattern(known, tuple([day] for _ in range(7)))


@pytest.mark.parametrize("units", [0, 1, 2])
@pytest.mark.parametrize("opening", [90, 450, 1003])
def test_even_days_run_out_when_the_sandbox_refuses(units: int, opening: int) -> None:
    rules = SandboxTopUpRules(opening, 1000, units or None)
    day, refused_on = DailyCredits(api_spend=470, charge_size=47), None
    for number in range(60):
        at = datetime(2026, 11, 20, 12, tzinfo=UTC) + timedelta(days=number)
        if rules.run_moves([(at, -47, True)] * 10).refused and refused_on is None:
            refused_on = TODAY + timedelta(days=number)
    start = ForecastStart(TODAY, opening, threshold=100, credits_per_top_up=100 * units)
    found = forecast_run_out(start, even(day), "seed")
    assert (found.early, found.median, found.late) == (refused_on,) * 3
    assert found.percent_lasting == (100 if refused_on is None else 0)
    assert found.bands[-1].median == rules.account.balance


pools = st.lists(
    st.builds(
        DailyCredits,
        api_spend=st.integers(0, 500),
        charge_size=st.integers(1, 80),
        outside_spend=st.sampled_from([0, 0, 20]),
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
@settings(max_examples=examples(10, 40))
def test_a_drawn_future_is_what_the_sandbox_makes_of_the_same_days(
    drawn_from: tuple[list[DailyCredits], ...], opening: int, units: int | None, seed: int
) -> None:
    """The same chance draws the same days; the sandbox lives them charge by charge."""
    pattern, horizon = SpendingPattern(56, drawn_from), 12
    chance, same = (random.Random(seed) for _ in range(2))  # noqa: S311 - draws, not secrets
    rules = SandboxTopUpRules(opening, 1000, units)
    balances, end, noon = [], horizon, datetime(2026, 11, 20, 12, tzinfo=UTC)
    for number in range(horizon):
        day = pattern.draw_day(TODAY + timedelta(days=number), chance)
        lived = rules.run_moves(day_movements(day, noon + timedelta(days=number)))
        balances.append(lived.balance)
        if lived.refused and end == horizon:
            end = number
    start = ForecastStart(TODAY, opening, threshold=100, credits_per_top_up=100 * (units or 0))
    run = simulate_run(start, pattern, same, horizon)
    assert (run.balances, run.end_day, run.top_ups) == (balances, end, rules.topped_up())


def test_a_day_is_drawn_from_its_own_weekday() -> None:
    """Nothing is spent on weekends, so nobody runs out on one."""
    spent = {
        TODAY - timedelta(days=back): DailyCredits(api_spend=100 + back, charge_size=10)
        for back in range(1, 57)
        if (TODAY - timedelta(days=back)).weekday() < 5
    }
    pattern = build_spending_pattern(spent, min(spent), TODAY)
    assert pattern.knows_weekdays
    assert {day.api_spend for day in pattern.by_weekday[6]} == {0}
    found = forecast_run_out(ForecastStart(TODAY, 1200), pattern, "seed")
    assert found.early and found.median and found.late
    assert TODAY < found.early <= found.median <= found.late
    assert found.early.weekday() < 5


def test_few_days_say_so_and_three_weeks_know_weekdays() -> None:
    one = {TODAY - timedelta(days=1): DailyCredits(api_spend=10)}
    for known, enough, weekdays in ((3, False, False), (7, True, False), (21, True, True)):
        pattern = build_spending_pattern(one, TODAY - timedelta(days=known), TODAY)
        assert (pattern.known_days, pattern.has_enough_days, pattern.knows_weekdays) == (
            known,
            enough,
            weekdays,
        )


def test_today_is_no_whole_day_and_what_came_in_is_no_habit() -> None:
    days = {
        TODAY: DailyCredits(api_spend=999),
        TODAY - timedelta(days=2): DailyCredits(api_spend=5, into=6000),
    }
    pattern = build_spending_pattern(days, TODAY - timedelta(days=7), TODAY)
    drawn = [day for pool in pattern.by_weekday for day in pool]
    assert max(day.api_spend for day in drawn) == 5
    assert max(day.into for day in drawn) == 0
    assert build_spending_pattern({}, TODAY, TODAY).known_days == 0


def test_the_same_numbers_say_the_same_and_wilder_days_a_wider_range() -> None:
    calm = even(DailyCredits(api_spend=100, charge_size=10))
    wild = SpendingPattern(
        56,
        tuple(
            [
                DailyCredits(api_spend=10, charge_size=10),
                DailyCredits(api_spend=190, charge_size=10),
            ]
            for _ in range(7)
        ),
    )
    start = ForecastStart(TODAY, 2000)
    assert forecast_run_out(start, wild, "a") == forecast_run_out(start, wild, "a")
    tame, broad = forecast_run_out(start, calm, "a"), forecast_run_out(start, wild, "a")
    assert tame.early == tame.late
    assert broad.early and broad.late and broad.early < broad.late
    assert broad.daily_spend == 100
    assert broad.percent_lasting_until(TODAY) == 100
    assert 85 <= broad.percent_lasting_until(broad.early) <= 100
    assert broad.percent_lasting_until(broad.late) <= 25


def test_nothing_spent_lasts_beyond_the_horizon() -> None:
    found = forecast_run_out(ForecastStart(TODAY, 10), even(DailyCredits()), "seed")
    assert (found.early, found.late, found.percent_lasting) == (None, None, 100)
    assert found.percent_lasting_until(TODAY + timedelta(days=60)) == 100


def test_top_up_rests_after_a_failure_and_counts_what_today_has_had() -> None:
    day = DailyCredits(api_spend=100, charge_size=10)
    held_back = forecast_run_out(
        ForecastStart(TODAY, 90, 100, 100, cooldown_days=2), even(day), "seed"
    )
    assert held_back.early == TODAY
    used_up = forecast_run_out(
        ForecastStart(TODAY, 90, 100, 100, top_ups_today=3), even(day), "seed"
    )
    assert used_up.early == TODAY
    free = forecast_run_out(ForecastStart(TODAY, 90, 100, 100, top_ups_today=2), even(day), "seed")
    assert free.early is None


def test_the_day_a_rest_ends_on_counts_as_one() -> None:
    now = datetime(2026, 11, 20, 15, tzinfo=UTC)
    assert count_cooldown_days(None, now) == count_cooldown_days(now, now) == 0
    assert count_cooldown_days(now + timedelta(hours=24), now) == 2
    assert count_cooldown_days(now + timedelta(hours=3), now) == 1
