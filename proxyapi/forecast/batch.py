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

from proxyapi.forecast.rules import Happened, Offer, Standing

MOST = 1000  # charges of a batch


class Answer(StrEnum):
    YES = "yes"
    TOPPED_UP = "topped_up"  # only with top-ups
    NO = "no"


@dataclass(frozen=True, slots=True)
class Batch:
    """`sent`: how many go. `at`: when the last of them goes. `left`: credits after it."""

    answer: Answer
    sent: int
    top_ups: int
    at: datetime
    left: Decimal
    short: Decimal  # credits that the first one that does not go lacks


def afford(standing: Standing, offer: Offer, now: datetime, count: int, each: Decimal) -> Batch:
    """`each` is credits, above 0. `standing` stays as it is."""
    batch = go(standing, offer, now, count, each, patient=False)
    if batch.answer is Answer.NO:
        slower = go(standing, offer, now, count, each, patient=True)
        return max(batch, slower, key=lambda one: one.sent)
    return batch


def go(
    standing: Standing, offer: Offer, now: datetime, count: int, each: Decimal, *, patient: bool
) -> Batch:
    stands, at, top_ups = replace(standing), now, 0
    for number in range(count):
        if number + 1 < count and waits(stands, offer, each, patient=patient):
            at = stands.free_at(at)
        happened = stands.spend(offer, at, each)
        if happened is Happened.SHORT:
            lacking = each - stands.balance
            return Batch(Answer.NO, number, top_ups, at, stands.balance, lacking)
        top_ups += happened is Happened.TOPPED_UP
    answer = Answer.TOPPED_UP if standing.balance < count * each else Answer.YES
    return Batch(answer, count, top_ups, at, stands.balance, Decimal(0))


def waits(stands: Standing, offer: Offer, each: Decimal, *, patient: bool) -> bool:
    """Whether to send this one only when the top-up that it asks for may come."""
    after = stands.balance - each
    if after < 0 or not offer.wants(after) or stands.is_off or not offer.pays:
        return False
    return patient or after < each
