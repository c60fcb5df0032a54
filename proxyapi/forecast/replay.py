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

from proxyapi.forecast.days import Day, live
from proxyapi.forecast.rules import PER_DAY, Happened, Offer, Standing


@dataclass(frozen=True, slots=True)
class Movement:
    """Credits, signed: debits are negative. Not the top-ups that really came."""

    at: datetime
    amount: Decimal
    via_api: bool = True


@dataclass(frozen=True, slots=True)
class Point:
    """The balance right after something moved it."""

    at: datetime
    balance: Decimal
    topped_up: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """A spend that would have been refused: so much was needed, so much was there."""

    at: datetime
    needed: Decimal
    there: Decimal


@dataclass(frozen=True, slots=True)
class Replay:
    """`by_day`: made of days instead of single movements."""

    points: tuple[Point, ...]
    gaps: tuple[Gap, ...]
    bought: Decimal
    busiest: int  # most top-ups of a UTC day
    by_day: bool = False

    @property
    def top_ups(self) -> int:
        return sum(point.topped_up for point in self.points)

    @property
    def lowest(self) -> Decimal:
        return min(point.balance for point in self.points)


def replay(
    opening: Decimal, since: datetime, movements: Iterable[Movement], offer: Offer
) -> Replay:
    """Movements in the order in which they happened; `opening` is the balance before them."""
    standing, gaps, busiest = Standing(opening), [], 0
    points = [Point(since, opening)]
    for move in movements:
        if move.amount >= 0:
            points.append(Point(move.at, standing.balance))
            standing.credit(move.amount)
            points.append(Point(move.at, standing.balance))
            continue
        before = standing.balance
        happened = standing.spend(offer, move.at, -move.amount, via_api=move.via_api)
        if happened is Happened.SHORT:
            gaps.append(Gap(move.at, -move.amount, before))
            continue
        if happened is Happened.TOPPED_UP:
            points.append(Point(move.at, standing.balance - offer.credits))
            busiest = max(busiest, standing.today)
        points.append(Point(move.at, standing.balance, happened is Happened.TOPPED_UP))
    bought = offer.credits * sum(point.topped_up for point in points)
    return Replay(tuple(points), tuple(gaps), bought, busiest)


def replay_days(
    opening: Decimal, since: datetime, days: Sequence[tuple[datetime, Day]], offer: Offer
) -> Replay:
    """The same day by day, for ledgers too long to move entry by entry; whole credits.

    Each day comes with its last moment, which is when all of it moves. The top-ups that a day may
    have are counted by these days, not by the UTC day.
    """
    credits, threshold = int(offer.credits), ceiling(offer.threshold)
    balance, busiest, bought = int(opening), 0, 0
    points, gaps = [Point(since, opening)], []
    for at, day in days:
        before = balance
        end = live(balance, day, credits, threshold, PER_DAY if offer.enabled else 0)
        balance, busiest = end.balance, max(busiest, end.top_ups)
        bought += end.top_ups * credits
        points += [Point(at, Decimal(balance), topped_up=True)] * end.top_ups
        points.append(Point(at, Decimal(balance)))
        if end.refused:
            gaps.append(Gap(at, Decimal(end.refused), Decimal(before)))
    return Replay(tuple(points), tuple(gaps), Decimal(bought), busiest, by_day=True)


def ceiling(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
