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

from proxyapi.forecast.day_simulation import DailyCredits

PATTERN_WEEKS = 8
MIN_PATTERN_DAYS = 7
MIN_WEEKDAY_PATTERN_DAYS = 21  # days
FIRST_WEEKEND_DAY = 5  # date.weekday() of Saturday


@dataclass(frozen=True, slots=True)
class SpendingPattern:
    """`known`: whole days it was learned from. `by_weekday`: seven pools of days."""

    known_days: int
    by_weekday: tuple[Sequence[DailyCredits], ...]

    @property
    def has_enough_days(self) -> bool:
        return self.known_days >= MIN_PATTERN_DAYS

    @property
    def knows_weekdays(self) -> bool:
        return self.known_days >= MIN_WEEKDAY_PATTERN_DAYS

    def draw_day(self, on: date, chance: random.Random) -> DailyCredits:
        pool = self.by_weekday[on.weekday()]
        return pool[int(chance.random() * len(pool))]


def build_spending_pattern(
    days: Mapping[date, DailyCredits], first: date, today: date
) -> SpendingPattern:
    """From the whole days before today; a day without entries since `first` is a day of nothing.

    Only spend counts: what was credited is no habit.
    """
    begin = max(first, today - timedelta(weeks=PATTERN_WEEKS))
    known = max(0, (today - begin).days)
    all_days = [begin + timedelta(days=number) for number in range(known)]
    lived = {on: replace(days.get(on, DailyCredits()), into=0) for on in all_days}
    pools = [
        [lived[on] for on in all_days if is_same_kind_of_day(on, weekday, known)]
        for weekday in range(7)
    ]
    spare = list(lived.values()) or [DailyCredits()]
    return SpendingPattern(known, tuple(pool or spare for pool in pools))


def is_same_kind_of_day(on: date, weekday: int, known: int) -> bool:
    if known >= MIN_WEEKDAY_PATTERN_DAYS:
        return on.weekday() == weekday
    return (on.weekday() >= FIRST_WEEKEND_DAY) == (weekday >= FIRST_WEEKEND_DAY)
