"""The upstream's rules of automatic top-up, applied to one movement of credits at a time (spec,
Limits).

After a spend through the API that leaves less than a tenth of the monthly credits, one top-up is
attempted: at most 3 successful ones in a UTC day, none within 24 hours of a failed one, none any
more after 3 failures in a row. A spend that the balance does not cover is refused and causes no
top-up. Amounts are credits, times are aware.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

TOP_UP_THRESHOLD_PERCENT = 10
MAX_TOP_UPS_PER_DAY = 3
FAILURE_COOLDOWN = timedelta(hours=24)
MAX_TOP_UP_FAILURES = 3


class SpendOutcome(StrEnum):
    COVERED = "covered"
    TOPPED_UP = "topped_up"  # covered, and a top-up followed
    FAILED = "failed"  # covered, and a top-up was attempted and failed
    SHORT = "short"  # the balance did not cover it: refused, nothing moved


@dataclass(frozen=True, slots=True)
class TopUpOffer:
    """What a setting buys each time, on an account with `monthly_credits`.

    `payment_succeeds`: whether the saved payment method works.
    """

    enabled: bool
    credits: Decimal
    monthly_credits: Decimal
    payment_succeeds: bool = True

    @property
    def threshold(self) -> Decimal:
        """Below this balance a top-up is attempted."""
        return self.monthly_credits * TOP_UP_THRESHOLD_PERCENT / 100

    def wants_top_up(self, balance: Decimal) -> bool:
        return self.enabled and balance < self.threshold


@dataclass(slots=True)
class SimulatedAccount:
    """A simulated account; `spend` and `credit` change it."""

    balance: Decimal
    failures: int = 0
    failed_at: datetime | None = None
    # By the third failure; switching top-up on again does not reset the count
    is_switched_off: bool = False
    day: date | None = None
    top_ups_today: int = 0  # successful top-ups of `day`, UTC

    def spend(
        self, offer: TopUpOffer, at: datetime, amount: Decimal, *, via_api: bool = True
    ) -> SpendOutcome:
        """Deduct credits (positive); a spend outside the API causes no top-up."""
        if amount > self.balance:
            return SpendOutcome.SHORT
        self.balance -= amount
        if not via_api or amount <= 0 or not offer.wants_top_up(self.balance):
            return SpendOutcome.COVERED
        if self.is_switched_off or not self.can_try_top_up(at):
            return SpendOutcome.COVERED
        return self.try_top_up(offer, at)

    def credit(self, amount: Decimal) -> None:
        self.balance += amount

    def can_try_top_up(self, at: datetime) -> bool:
        return self.next_try_at(at) <= at

    def next_try_at(self, at: datetime) -> datetime:
        """The first time from `at` on at which another attempt is allowed."""
        allowed_at = at
        if self.successes_on(at) >= MAX_TOP_UPS_PER_DAY:
            allowed_at = next_utc_midnight(at)
        if self.failed_at is not None:
            allowed_at = max(allowed_at, self.failed_at + FAILURE_COOLDOWN)
        return allowed_at

    def successes_on(self, at: datetime) -> int:
        return self.top_ups_today if self.day == at.astimezone(UTC).date() else 0

    def try_top_up(self, offer: TopUpOffer, at: datetime) -> SpendOutcome:
        if not offer.payment_succeeds:
            self.failures, self.failed_at = self.failures + 1, at
            self.is_switched_off = self.failures >= MAX_TOP_UP_FAILURES
            return SpendOutcome.FAILED
        self.day, self.top_ups_today = at.astimezone(UTC).date(), self.successes_on(at) + 1
        self.failures = 0
        self.balance += offer.credits
        return SpendOutcome.TOPPED_UP


def next_utc_midnight(at: datetime) -> datetime:
    """The next UTC midnight, when the day's count starts again."""
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + timedelta(days=1)
