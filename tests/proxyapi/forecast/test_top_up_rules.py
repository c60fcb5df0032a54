"""The rules of the forecast are the sandbox's own: the same after every movement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from proxyapi.forecast import (
    CreditMovement,
    SimulatedAccount,
    SpendOutcome,
    TopUpOffer,
    replay_movements,
)
from tests.proxyapi.forecast.conftest import SandboxTopUpRules

BEGIN = datetime(2026, 3, 27, 21, 0, tzinfo=UTC)  # two days before Berlin's clocks go forward
MONTHLY = 1000

# Hours and seconds since the movement before, credits, whether through the API.
moves = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 7200), st.sampled_from([3600 * 3, 86_399, 86_400, 86_401])),
        st.one_of(st.integers(-140, -1), st.integers(-30, -1), st.integers(0, 300)),
        st.booleans(),
    ),
    min_size=1,
    max_size=60,
)
Move = tuple[int, int, bool]


def timed(moves: list[Move]) -> list[tuple[datetime, int, bool]]:
    at, lived = BEGIN, []
    for seconds, credits, via_api in moves:
        at += timedelta(seconds=seconds)
        lived.append((at, credits, via_api))
    return lived


@given(moves, st.integers(0, 400), st.sampled_from([None, 1, 2, 5]), st.booleans())
@example([(0, -60, True)] * 8, 120, 1, True)
def test_every_movement_leaves_what_the_sandbox_leaves(
    moves: list[Move], opening: int, units: int | None, pays: bool
) -> None:
    rules = SandboxTopUpRules(opening, MONTHLY, units, pays=pays)
    offer = TopUpOffer(
        units is not None, Decimal(100 * (units or 0)), Decimal(MONTHLY), payment_succeeds=pays
    )
    standing = SimulatedAccount(Decimal(opening))
    for at, credits, via_api in timed(moves):
        moved = rules.move(at, credits, via_api=via_api)
        if credits >= 0:
            standing.credit(Decimal(credits))
        else:
            happened = standing.spend(offer, at, Decimal(-credits), via_api=via_api)
            assert (happened is not SpendOutcome.SHORT) == moved
        assert standing.balance == rules.account.balance
        assert standing.failures == rules.top_up.consecutive_failures
        assert standing.is_switched_off == (units is not None and not rules.top_up.enabled)


@given(moves, st.integers(0, 400), st.sampled_from([None, 1, 2, 5, 10]))
def test_a_replay_buys_when_the_sandbox_buys_and_lacks_what_it_refuses(
    moves: list[Move], opening: int, units: int | None
) -> None:
    rules = SandboxTopUpRules(opening, MONTHLY, units)
    lived = rules.run_moves(timed(moves))
    offer = TopUpOffer(units is not None, Decimal(100 * (units or 0)), Decimal(MONTHLY))
    movements = [CreditMovement(at, Decimal(credits), via) for at, credits, via in timed(moves)]
    played = replay_movements(Decimal(opening), BEGIN, movements, offer)
    assert played.points[-1].balance == lived.balance
    assert played.top_ups == lived.top_ups[-1]
    assert [gap.at for gap in played.gaps] == [timed(moves)[it][0] for it in lived.refused]
    assert played.credits_bought == 100 * (units or 0) * played.top_ups
    assert played.max_top_ups_per_day <= 3


def test_pitfall_78_spend_outside_the_api_triggers_nothing() -> None:
    standing, offer = (
        SimulatedAccount(Decimal(150)),
        TopUpOffer(True, Decimal(500), Decimal(MONTHLY)),
    )
    assert standing.spend(offer, BEGIN, Decimal(60), via_api=False) is SpendOutcome.COVERED
    assert standing.balance == 90
    assert standing.spend(offer, BEGIN, Decimal(1)) is SpendOutcome.TOPPED_UP


def test_pitfall_68_the_count_of_a_day_begins_at_utc_midnight_whatever_the_summer_time() -> None:
    """In Berlin it is 02:00 then, the hour that is missing on 29 March."""
    standing, offer = SimulatedAccount(Decimal(99)), TopUpOffer(True, Decimal(1), Decimal(MONTHLY))
    before = datetime(2026, 3, 28, 23, 59, 59, tzinfo=UTC)
    happened = [standing.spend(offer, before, Decimal(1)) for _ in range(4)]
    assert happened == [SpendOutcome.TOPPED_UP] * 3 + [SpendOutcome.COVERED]
    assert standing.next_try_at(before) == before + timedelta(seconds=1)
    after = before + timedelta(seconds=1)
    assert standing.spend(offer, after, Decimal(1)) is SpendOutcome.TOPPED_UP


def test_the_threshold_is_a_tenth_to_the_fraction() -> None:
    standing, offer = (
        SimulatedAccount(Decimal("100.0001")),
        TopUpOffer(True, Decimal(500), Decimal(MONTHLY)),
    )
    assert standing.spend(offer, BEGIN, Decimal("0.0001")) is SpendOutcome.COVERED
    assert standing.spend(offer, BEGIN, Decimal("0.0001")) is SpendOutcome.TOPPED_UP
    assert standing.balance == Decimal("599.9999")


def test_a_setting_that_buys_nothing_known_leaves_gaps_with_what_was_lacking() -> None:
    spent = CreditMovement(BEGIN, Decimal("-40.5"))
    played = replay_movements(
        Decimal(60), BEGIN, [spent, spent], TopUpOffer(False, Decimal(0), Decimal(MONTHLY))
    )
    lowest = min(point.balance for point in played.points)
    assert (played.top_ups, lowest) == (0, Decimal("19.5"))
    (gap,) = played.gaps
    assert (gap.needed, gap.available) == (Decimal("40.5"), Decimal("19.5"))
