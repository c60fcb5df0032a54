"""What if: the past, moved again under another top-up setting.

Every movement of the ledger comes again as it was, but for the top-ups that really came: those
the setting makes. A spend that the balance would not have covered is a gap: the service would
have refused it, and nothing moves. Payments are taken to succeed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from proxyapi.forecast.day_simulation import DailyCredits, simulate_day
from proxyapi.forecast.top_up_rules import (
    MAX_TOP_UPS_PER_DAY,
    SimulatedAccount,
    SpendOutcome,
    TopUpOffer,
)


@dataclass(frozen=True, slots=True)
class CreditMovement:
    """Credits, signed: debits are negative. Not the top-ups that really came."""

    at: datetime
    amount: Decimal
    via_api: bool = True


@dataclass(frozen=True, slots=True)
class ReplayPoint:
    """The balance right after something moved it."""

    at: datetime
    balance: Decimal
    topped_up: bool = False


@dataclass(frozen=True, slots=True)
class UncoveredSpend:
    """A spend that would have been refused: so much was needed, so much was there."""

    at: datetime
    needed: Decimal
    available: Decimal


@dataclass(frozen=True, slots=True)
class TopUpReplay:
    """`by_day`: made of days instead of single movements."""

    points: tuple[ReplayPoint, ...]
    gaps: tuple[UncoveredSpend, ...]
    credits_bought: Decimal
    max_top_ups_per_day: int  # most top-ups of a UTC day
    is_daily: bool = False

    @property
    def top_ups(self) -> int:
        return sum(point.topped_up for point in self.points)


def replay_movements(
    opening: Decimal, since: datetime, movements: Iterable[CreditMovement], offer: TopUpOffer
) -> TopUpReplay:
    """Movements in the order in which they happened; `opening` is the balance before them."""
    standing, gaps, busiest = SimulatedAccount(opening), [], 0
    points = [ReplayPoint(since, opening)]
    for move in movements:
        if move.amount >= 0:
            points.append(ReplayPoint(move.at, standing.balance))
            standing.credit(move.amount)
            points.append(ReplayPoint(move.at, standing.balance))
            continue
        before = standing.balance
        happened = standing.spend(offer, move.at, -move.amount, via_api=move.via_api)
        if happened is SpendOutcome.SHORT:
            gaps.append(UncoveredSpend(move.at, -move.amount, before))
            continue
        if happened is SpendOutcome.TOPPED_UP:
            points.append(ReplayPoint(move.at, standing.balance - offer.credits))
            busiest = max(busiest, standing.top_ups_today)
        points.append(ReplayPoint(move.at, standing.balance, happened is SpendOutcome.TOPPED_UP))
    bought = offer.credits * sum(point.topped_up for point in points)
    return TopUpReplay(tuple(points), tuple(gaps), bought, busiest)


def replay_days(
    opening: Decimal,
    since: datetime,
    days: Sequence[tuple[datetime, DailyCredits]],
    offer: TopUpOffer,
) -> TopUpReplay:
    """The same day by day, for ledgers too long to move entry by entry; whole credits.

    Each day comes with its last moment, which is when all of it moves. The top-ups that a day may
    have are counted by these days, not by the UTC day.
    """
    credits, threshold = int(offer.credits), round_up_credits(offer.threshold)
    balance, busiest, bought = int(opening), 0, 0
    points, gaps = [ReplayPoint(since, opening)], []
    for at, day in days:
        before = balance
        end = simulate_day(
            balance, day, credits, threshold, MAX_TOP_UPS_PER_DAY if offer.enabled else 0
        )
        balance, busiest = end.balance, max(busiest, end.top_ups)
        bought += end.top_ups * credits
        points += [ReplayPoint(at, Decimal(balance), topped_up=True)] * end.top_ups
        points.append(ReplayPoint(at, Decimal(balance)))
        if end.refused:
            gaps.append(UncoveredSpend(at, Decimal(end.refused), Decimal(before)))
    return TopUpReplay(tuple(points), tuple(gaps), Decimal(bought), busiest, is_daily=True)


def round_up_credits(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
