"""The service's rules of automatic top-up, one movement of credits after the other (spec, Limits).

After a spend through the API that leaves less than a tenth of the monthly credits, one top-up is
tried: at most 3 with success a UTC day, none within 24 hours of a failed one, none any more after
3 failures in a row. A spend that the balance does not cover is refused and starts no top-up.
Amounts are credits, times are aware.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum

THRESHOLD_PERCENT = 10
PER_DAY = 3
COOLDOWN = timedelta(hours=24)
FAILURES = 3


class Happened(StrEnum):
    COVERED = "covered"
    TOPPED_UP = "topped_up"  # covered, and a top-up followed
    FAILED = "failed"  # covered, and a top-up was tried and failed
    SHORT = "short"  # the balance did not cover it: refused, nothing moved


@dataclass(frozen=True, slots=True)
class Offer:
    """What a setting buys each time, on an account of so many monthly credits.

    `pays`: whether the saved payment method does.
    """

    enabled: bool
    credits: Decimal
    monthly: Decimal
    pays: bool = True

    @property
    def threshold(self) -> Decimal:
        """Below this a top-up is tried."""
        return self.monthly * THRESHOLD_PERCENT / 100

    def wants(self, balance: Decimal) -> bool:
        return self.enabled and balance < self.threshold


@dataclass(slots=True)
class Standing:
    """Where an account stands; `spend` and `credit` move it."""

    balance: Decimal
    failures: int = 0
    failed_at: datetime | None = None
    is_off: bool = False  # switched off by the third failure; switching on again clears no count
    day: date | None = None
    today: int = 0  # successful top-ups of `day`, UTC

    def spend(
        self, offer: Offer, at: datetime, amount: Decimal, *, via_api: bool = True
    ) -> Happened:
        """Take credits (positive); a spend outside the API starts no top-up."""
        if amount > self.balance:
            return Happened.SHORT
        self.balance -= amount
        if not via_api or amount <= 0 or not offer.wants(self.balance):
            return Happened.COVERED
        if self.is_off or not self.may_try(at):
            return Happened.COVERED
        return self.try_once(offer, at)

    def credit(self, amount: Decimal) -> None:
        self.balance += amount

    def may_try(self, at: datetime) -> bool:
        return self.free_at(at) <= at

    def free_at(self, at: datetime) -> datetime:
        """The first moment from `at` on when another try is allowed."""
        free = at
        if self.successes_on(at) >= PER_DAY:
            free = midnight_after(at)
        if self.failed_at is not None:
            free = max(free, self.failed_at + COOLDOWN)
        return free

    def successes_on(self, at: datetime) -> int:
        return self.today if self.day == at.astimezone(UTC).date() else 0

    def try_once(self, offer: Offer, at: datetime) -> Happened:
        if not offer.pays:
            self.failures, self.failed_at = self.failures + 1, at
            self.is_off = self.failures >= FAILURES
            return Happened.FAILED
        self.day, self.today = at.astimezone(UTC).date(), self.successes_on(at) + 1
        self.failures = 0
        self.balance += offer.credits
        return Happened.TOPPED_UP


def midnight_after(at: datetime) -> datetime:
    """The next UTC midnight: there the count of a day begins anew."""
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return today + timedelta(days=1)
