"""Can a batch be afforded: so many charges of about so much, one after the other from now on.

They go as fast as the credits allow. Where one would leave too little for the next and no top-up
may come yet, the batch waits for the moment when one may: the next UTC day, or the end of the wait
after a failed payment. If that is not enough, it waits before every charge that could bring one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from proxyapi.forecast.top_up_rules import SimulatedAccount, SpendOutcome, TopUpOffer

MAX_BATCH_CHARGES = 1000  # charges of a batch


class BatchAnswer(StrEnum):
    YES = "yes"
    TOPPED_UP = "topped_up"  # only with top-ups
    NO = "no"


@dataclass(frozen=True, slots=True)
class BatchForecast:
    """`sent`: how many go. `at`: when the last of them goes. `left`: credits after it."""

    answer: BatchAnswer
    sent_count: int
    top_ups: int
    finished_at: datetime
    credits_left: Decimal
    missing_credits: Decimal  # credits that the first one that does not go lacks


def forecast_batch(
    standing: SimulatedAccount, offer: TopUpOffer, now: datetime, count: int, each: Decimal
) -> BatchForecast:
    """`each` is credits, above 0. `standing` stays as it is."""
    batch = simulate_batch(standing, offer, now, count, each, patient=False)
    if batch.answer is BatchAnswer.NO:
        slower = simulate_batch(standing, offer, now, count, each, patient=True)
        return max(batch, slower, key=lambda one: one.sent_count)
    return batch


def simulate_batch(
    standing: SimulatedAccount,
    offer: TopUpOffer,
    now: datetime,
    count: int,
    each: Decimal,
    *,
    patient: bool,
) -> BatchForecast:
    stands, at, top_ups = replace(standing), now, 0
    for number in range(count):
        if number + 1 < count and should_wait_for_top_up(stands, offer, each, patient=patient):
            at = stands.next_try_at(at)
        happened = stands.spend(offer, at, each)
        if happened is SpendOutcome.SHORT:
            lacking = each - stands.balance
            return BatchForecast(BatchAnswer.NO, number, top_ups, at, stands.balance, lacking)
        top_ups += happened is SpendOutcome.TOPPED_UP
    answer = BatchAnswer.TOPPED_UP if standing.balance < count * each else BatchAnswer.YES
    return BatchForecast(answer, count, top_ups, at, stands.balance, Decimal(0))


def should_wait_for_top_up(
    stands: SimulatedAccount, offer: TopUpOffer, each: Decimal, *, patient: bool
) -> bool:
    """Whether to send this one only when the top-up that it asks for may come."""
    after = stands.balance - each
    if (
        after < 0
        or not offer.wants_top_up(after)
        or stands.is_switched_off
        or not offer.payment_succeeds
    ):
        return False
    return patient or after < each
