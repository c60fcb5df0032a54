"""Whether a batch fits: yes, with top-ups and when, or how far it comes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from proxyapi.forecast import BatchAnswer, SimulatedAccount, TopUpOffer, forecast_batch
from tests.proxyapi.forecast.conftest import SandboxTopUpRules

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)
OFF = TopUpOffer(False, Decimal(0), Decimal(1000))


def offer(units: int) -> TopUpOffer:
    return TopUpOffer(True, Decimal(100 * units), Decimal(1000))


def test_what_the_balance_covers_is_a_plain_yes() -> None:
    batch = forecast_batch(SimulatedAccount(Decimal(500)), OFF, NOW, 5, Decimal(100))
    assert (batch.answer, batch.sent_count, batch.credits_left, batch.finished_at) == (
        BatchAnswer.YES,
        5,
        0,
        NOW,
    )


def test_without_top_up_it_says_how_many_go_and_what_the_next_one_lacks() -> None:
    batch = forecast_batch(SimulatedAccount(Decimal(250)), OFF, NOW, 5, Decimal(100))
    assert (batch.answer, batch.sent_count, batch.credits_left, batch.missing_credits) == (
        BatchAnswer.NO,
        2,
        50,
        50,
    )


def test_with_top_ups_it_says_how_many_and_when() -> None:
    """Three top-ups of 100 a day carry three charges of 90; the rest waits for UTC midnight."""
    batch = forecast_batch(SimulatedAccount(Decimal(99)), offer(1), NOW, 6, Decimal(90))
    assert batch.answer is BatchAnswer.TOPPED_UP
    assert batch.sent_count == 6
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    assert batch.finished_at == midnight


def test_a_job_dearer_than_what_is_left_meets_the_empty_account_before_the_top_up() -> None:
    """pitfall_78: the balance is over the threshold, so nothing tops it up first."""
    batch = forecast_batch(SimulatedAccount(Decimal(150)), offer(20), NOW, 1, Decimal(200))
    assert (batch.answer, batch.sent_count, batch.missing_credits) == (BatchAnswer.NO, 0, 50)


def test_after_a_failed_payment_it_waits_its_day() -> None:
    failed_at = NOW - timedelta(hours=4)
    standing = SimulatedAccount(Decimal(99), failures=1, failed_at=failed_at)
    batch = forecast_batch(standing, offer(5), NOW, 2, Decimal(90))
    assert (batch.answer, batch.finished_at) == (
        BatchAnswer.TOPPED_UP,
        failed_at + timedelta(hours=24),
    )


def test_small_top_ups_need_patience() -> None:
    """Today's three are gone: at once two would go, with a top-up after each all five do."""
    standing = SimulatedAccount(Decimal(300), day=NOW.date(), top_ups_today=3)
    batch = forecast_batch(
        standing, TopUpOffer(True, Decimal(50), Decimal(4000)), NOW, 5, Decimal(90)
    )
    assert (batch.answer, batch.sent_count, batch.top_ups) == (BatchAnswer.TOPPED_UP, 5, 5)
    assert batch.finished_at == datetime(2026, 11, 22, tzinfo=UTC)


@given(
    st.integers(0, 400), st.integers(1, 12), st.integers(1, 150), st.sampled_from([None, 1, 2, 5])
)
def test_a_promise_is_kept_by_the_sandbox(
    balance: int, count: int, each: int, units: int | None
) -> None:
    """What it says can be sent by then is taken by the sandbox, charge for charge."""
    chosen = offer(units) if units else OFF
    batch = forecast_batch(SimulatedAccount(Decimal(balance)), chosen, NOW, count, Decimal(each))
    assert batch.sent_count == most(balance, count, each, units)


def most(balance: int, count: int, each: int, units: int | None) -> int:
    """Of all ways to wait or not before each charge: how many go at most in the sandbox."""
    best = 0
    for waits in (0, 1):
        rules, at, sent = SandboxTopUpRules(balance, 1000, units), NOW, 0
        for _ in range(count):
            at += timedelta(days=waits)
            if not rules.move(at, -each):
                break
            sent += 1
        best = max(best, sent)
    return best
