"""When the credits run out: not one date but a range, out of many drawn futures.

A run draws each day of the horizon from the pattern and lives it under the top-up rules; it has
run out on the first day that a charge is refused for want of credits. One in ten runs ends before
`early`, one in ten after `late`. The plan's next credits are not counted. Whole credits.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from proxyapi.forecast.days import live
from proxyapi.forecast.pattern import Pattern
from proxyapi.forecast.rules import PER_DAY

RUNS = 200
HORIZON = 60  # days
EARLY, LATE = 10, 90  # in 100 runs


@dataclass(frozen=True, slots=True)
class Start:
    """Where the account stands: free credits, and what top-up may still do.

    `credits` of one top-up, 0 where it is off. `today`: successful top-ups of today. `resting`:
    days from today on which none is tried yet.
    """

    on: date
    balance: int
    threshold: int = 0
    credits: int = 0
    today: int = 0
    resting: int = 0


@dataclass(frozen=True, slots=True)
class Band:
    """The balance at the end of a day: in 10, 50 and 90 of 100 runs it is not above this."""

    on: date
    low: int
    middle: int
    high: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """A date is None where it lies beyond the horizon. `lasting`: of 100 runs, how many do."""

    until: date
    early: date | None
    middle: date | None
    late: date | None
    lasting: int
    top_ups: int  # in the middle run
    spend_a_day: int  # the mean
    bands: tuple[Band, ...]
    ends: tuple[int, ...]  # of each run the day, from 0, in ascending order

    def lasting_to(self, day: date) -> int:
        """Of 100 runs, how many last until that day at least."""
        number = (day - self.bands[0].on).days
        return round(100 * sum(end >= number for end in self.ends) / len(self.ends))


def foresee(start: Start, pattern: Pattern, seed: str, horizon: int = HORIZON) -> Forecast:
    """Same seed and same numbers, same forecast: a page that is loaded twice says the same."""
    chance = random.Random(seed)  # noqa: S311 - futures to look at, not secrets
    runs = [one(start, pattern, chance, horizon) for _ in range(RUNS)]
    ends = sorted(run.end for run in runs)
    columns = [sorted(column) for column in zip(*(run.balances for run in runs), strict=True)]
    return Forecast(
        until=start.on + timedelta(days=horizon),
        early=day_of(start, nth(ends, EARLY), horizon),
        middle=day_of(start, nth(ends, 50), horizon),
        late=day_of(start, nth(ends, LATE), horizon),
        lasting=round(100 * sum(end >= horizon for end in ends) / RUNS),
        top_ups=nth(sorted(run.top_ups for run in runs), 50),
        spend_a_day=mean_of(pattern),
        bands=tuple(
            Band(
                start.on + timedelta(days=number), nth(them, EARLY), nth(them, 50), nth(them, LATE)
            )
            for number, them in enumerate(columns)
        ),
        ends=tuple(ends),
    )


@dataclass(frozen=True, slots=True)
class Run:
    """`end`: the day, from 0, on which a charge was refused; the horizon where none was."""

    end: int
    top_ups: int
    balances: list[int]


def one(start: Start, pattern: Pattern, chance: random.Random, horizon: int) -> Run:
    balance, top_ups, end = start.balance, 0, horizon
    balances = []
    for number in range(horizon):
        day = pattern.draw(start.on + timedelta(days=number), chance)
        after = live(balance, day, start.credits, start.threshold, allowed_on(start, number))
        balance, top_ups = after.balance, top_ups + after.top_ups
        balances.append(balance)
        if after.refused and end == horizon:
            end = number
    return Run(end, top_ups, balances)


def allowed_on(start: Start, number: int) -> int:
    if not start.credits or number < start.resting:
        return 0
    return max(0, PER_DAY - start.today) if number == 0 else PER_DAY


def resting_days(until: datetime | None, now: datetime) -> int:
    """Days on which a rest lasts; the day it ends on counts as one."""
    if until is None or until <= now:
        return 0
    return (until.date() - now.date()).days + 1


def mean_of(pattern: Pattern) -> int:
    """Over a week, so that a weekday known better than another weighs no more."""
    pools = [[day.api + day.outside for day in pool] for pool in pattern.by_weekday]
    return round(sum(sum(pool) / len(pool) for pool in pools) / len(pools))


def nth(ordered: Sequence[int], percent: int) -> int:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)]


def day_of(start: Start, end: int, horizon: int) -> date | None:
    return None if end >= horizon else start.on + timedelta(days=end)
