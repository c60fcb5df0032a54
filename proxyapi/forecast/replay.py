"""Replay the past with another top-up setting.

Every movement of the ledger is repeated, except the real top-ups: those of the setting replace
them. A spend that the balance would not have covered is a gap: the upstream would have refused it,
and nothing moves. Payments are assumed to succeed.
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
    """Credits, signed: debits are negative. Real top-ups are excluded."""

    at: datetime
    amount: Decimal
    via_api: bool = True


@dataclass(frozen=True, slots=True)
class ReplayPoint:
    """The balance right after a movement."""

    at: datetime
    balance: Decimal
    topped_up: bool = False


@dataclass(frozen=True, slots=True)
class UncoveredSpend:
    """A spend that would have been refused: credits needed, and credits available."""

    at: datetime
    needed: Decimal
    available: Decimal


@dataclass(frozen=True, slots=True)
class TopUpReplay:
    """`is_daily`: computed from days instead of single movements."""

    points: tuple[ReplayPoint, ...]
    gaps: tuple[UncoveredSpend, ...]
    credits_bought: Decimal
    max_top_ups_per_day: int  # of a UTC day
    is_daily: bool = False

    @property
    def top_ups(self) -> int:
        return sum(point.topped_up for point in self.points)


def replay_movements(
    opening: Decimal, since: datetime, movements: Iterable[CreditMovement], offer: TopUpOffer
) -> TopUpReplay:
    """Replay movements in the order of their times; `opening` is the balance before them."""
    account, gaps, max_per_day = SimulatedAccount(opening), [], 0
    points = [ReplayPoint(since, opening)]
    for move in movements:
        if move.amount >= 0:
            points.append(ReplayPoint(move.at, account.balance))
            account.credit(move.amount)
            points.append(ReplayPoint(move.at, account.balance))
            continue
        before = account.balance
        outcome = account.spend(offer, move.at, -move.amount, via_api=move.via_api)
        if outcome is SpendOutcome.SHORT:
            gaps.append(UncoveredSpend(move.at, -move.amount, before))
            continue
        if outcome is SpendOutcome.TOPPED_UP:
            points.append(ReplayPoint(move.at, account.balance - offer.credits))
            max_per_day = max(max_per_day, account.top_ups_today)
        points.append(ReplayPoint(move.at, account.balance, outcome is SpendOutcome.TOPPED_UP))
    bought = offer.credits * sum(point.topped_up for point in points)
    return TopUpReplay(tuple(points), tuple(gaps), bought, max_per_day)


def replay_days(
    opening: Decimal,
    since: datetime,
    days: Sequence[tuple[datetime, DailyCredits]],
    offer: TopUpOffer,
) -> TopUpReplay:
    """Replay day by day, for ledgers too long to replay by entry; whole credits.

    Each day comes with its last moment, the time of all its movements. The limit of top-ups counts
    by these days, not by the UTC day.
    """
    credits, threshold = int(offer.credits), round_up_credits(offer.threshold)
    balance, max_per_day, bought = int(opening), 0, 0
    points, gaps = [ReplayPoint(since, opening)], []
    for at, day in days:
        before = balance
        end = simulate_day(
            balance, day, credits, threshold, MAX_TOP_UPS_PER_DAY if offer.enabled else 0
        )
        balance, max_per_day = end.balance, max(max_per_day, end.top_ups)
        bought += end.top_ups * credits
        points += [ReplayPoint(at, Decimal(balance), topped_up=True)] * end.top_ups
        points.append(ReplayPoint(at, Decimal(balance)))
        if end.refused:
            gaps.append(UncoveredSpend(at, Decimal(end.refused), Decimal(before)))
    return TopUpReplay(tuple(points), tuple(gaps), Decimal(bought), max_per_day, is_daily=True)


def round_up_credits(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_CEILING))
