"""How a team spends: its last days, by their weekday, to draw other days from.

A bootstrap: a day to come is one of the last eight weeks' days of the same weekday, whole as it
was. With less than three weeks it is any workday for a workday and any weekend day for a weekend
day; with less than seven days there is no pattern, and nothing is said.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from proxyapi.forecast.days import Day

WEEKS = 8
FEWEST_DAYS = 7
BY_WEEKDAY_FROM = 21  # days
WEEKEND = 5  # date.weekday() of Saturday


@dataclass(frozen=True, slots=True)
class Pattern:
    """`known`: whole days it was learned from. `by_weekday`: seven pools of days."""

    known: int
    by_weekday: tuple[Sequence[Day], ...]

    @property
    def is_enough(self) -> bool:
        return self.known >= FEWEST_DAYS

    @property
    def knows_weekdays(self) -> bool:
        return self.known >= BY_WEEKDAY_FROM

    def draw(self, on: date, chance: random.Random) -> Day:
        pool = self.by_weekday[on.weekday()]
        return pool[int(chance.random() * len(pool))]


def pattern_of(days: Mapping[date, Day], first: date, today: date) -> Pattern:
    """From the whole days before today; a day without entries since `first` is a day of nothing.

    Only spend counts: what was credited is no habit.
    """
    begin = max(first, today - timedelta(weeks=WEEKS))
    known = max(0, (today - begin).days)
    all_days = [begin + timedelta(days=number) for number in range(known)]
    lived = {on: replace(days.get(on, Day()), into=0) for on in all_days}
    pools = [[lived[on] for on in all_days if alike(on, weekday, known)] for weekday in range(7)]
    spare = list(lived.values()) or [Day()]
    return Pattern(known, tuple(pool or spare for pool in pools))


def alike(on: date, weekday: int, known: int) -> bool:
    if known >= BY_WEEKDAY_FROM:
        return on.weekday() == weekday
    return (on.weekday() >= WEEKEND) == (weekday >= WEEKEND)
