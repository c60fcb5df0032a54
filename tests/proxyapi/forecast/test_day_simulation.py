"""A day in a few steps is the day charge by charge under the sandbox's own rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from proxyapi.forecast import DailyCredits, TopUpOffer, replay_days, simulate_day
from tests.proxyapi.forecast.conftest import SandboxTopUpRules, day_movements

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
MONTHLY = 1000
days = st.builds(
    DailyCredits,
    api_spend=st.integers(0, 700),
    charge_size=st.integers(1, 90),
    outside_spend=st.sampled_from([0, 0, 40]),
    into=st.sampled_from([0, 0, 150]),
)


@given(st.integers(0, 500), st.lists(days, min_size=1, max_size=6), st.sampled_from([None, 1, 3]))
def test_days_in_steps_are_days_charge_by_charge(
    opening: int, lived: list[DailyCredits], units: int | None
) -> None:
    rules, balance = SandboxTopUpRules(opening, MONTHLY, units), opening
    for number, day in enumerate(lived):
        before = rules.topped_up()
        moves = day_movements(day, NOON + timedelta(days=number))
        result = rules.run_moves(moves)
        end = simulate_day(balance, day, 100 * (units or 0), 100, 3 if units else 0)
        balance = end.balance
        assert balance == result.balance
        assert end.top_ups == rules.topped_up() - before
        assert end.refused == -sum(moves[it][1] for it in result.refused)


@given(st.integers(0, 500), st.lists(days, min_size=1, max_size=6))
def test_a_replay_by_day_adds_up_to_the_sandboxs(opening: int, lived: list[DailyCredits]) -> None:
    rules = SandboxTopUpRules(opening, MONTHLY, 2)
    for number, day in enumerate(lived):
        rules.run_moves(day_movements(day, NOON + timedelta(days=number)))
    offer = TopUpOffer(True, Decimal(200), Decimal(MONTHLY))
    dated = [(NOON + timedelta(days=it), day) for it, day in enumerate(lived)]
    played = replay_days(Decimal(opening), NOON, dated, offer)
    assert played.points[-1].balance == rules.account.balance
    assert (played.top_ups, played.credits_bought) == (rules.topped_up(), 200 * rules.topped_up())
    assert played.is_daily
