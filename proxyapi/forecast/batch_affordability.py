"""Can a batch be afforded: `count` charges of `each` credits, one after the other from now on.

They are sent as fast as the credits allow. If a charge would leave too little for the next one and
no top-up is possible yet, the batch waits until one is: the next UTC day, or the end of the
cooldown after a failed payment. If that is not enough, it waits before every charge that could
cause one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from proxyapi.forecast.top_up_rules import SimulatedAccount, SpendOutcome, TopUpOffer

MAX_BATCH_CHARGES = 1000


class BatchAnswer(StrEnum):
    YES = "yes"
    TOPPED_UP = "topped_up"  # only with top-ups
    NO = "no"


@dataclass(frozen=True, slots=True)
class BatchForecast:
    """`sent_count` charges are sent, the last one at `finished_at`; `credits_left` are the credits
    after it."""

    answer: BatchAnswer
    sent_count: int
    top_ups: int
    finished_at: datetime
    credits_left: Decimal
    missing_credits: Decimal  # what the first charge that is not sent lacks


def forecast_batch(
    account: SimulatedAccount, offer: TopUpOffer, now: datetime, count: int, each: Decimal
) -> BatchForecast:
    """`each` is in credits, above 0. `account` is not changed."""
    batch = simulate_batch(account, offer, now, count, each, patient=False)
    if batch.answer is BatchAnswer.NO:
        slower = simulate_batch(account, offer, now, count, each, patient=True)
        return max(batch, slower, key=lambda batch_forecast: batch_forecast.sent_count)
    return batch


def simulate_batch(
    account: SimulatedAccount,
    offer: TopUpOffer,
    now: datetime,
    count: int,
    each: Decimal,
    *,
    patient: bool,
) -> BatchForecast:
    simulated, at, top_ups = replace(account), now, 0
    for number in range(count):
        if number + 1 < count and should_wait_for_top_up(simulated, offer, each, patient=patient):
            at = simulated.next_try_at(at)
        outcome = simulated.spend(offer, at, each)
        if outcome is SpendOutcome.SHORT:
            lacking = each - simulated.balance
            return BatchForecast(BatchAnswer.NO, number, top_ups, at, simulated.balance, lacking)
        top_ups += outcome is SpendOutcome.TOPPED_UP
    answer = BatchAnswer.TOPPED_UP if account.balance < count * each else BatchAnswer.YES
    return BatchForecast(answer, count, top_ups, at, simulated.balance, Decimal(0))


def should_wait_for_top_up(
    account: SimulatedAccount, offer: TopUpOffer, each: Decimal, *, patient: bool
) -> bool:
    """Whether to delay this charge until the top-up that it causes is possible."""
    after = account.balance - each
    if (
        after < 0
        or not offer.wants_top_up(after)
        or account.is_switched_off
        or not offer.payment_succeeds
    ):
        return False
    return patient or after < each
