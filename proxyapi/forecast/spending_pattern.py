"""A team's spending pattern: its last days by weekday, from which future days are drawn.

A bootstrap: a future day is one of the last eight weeks' days of the same weekday, unchanged. With
less than three weeks it is any workday for a workday and any weekend day for a weekend day; with
less than seven days there is no pattern and no forecast.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from proxyapi.forecast.day_simulation import DailyCredits

PATTERN_WEEKS = 8
MIN_PATTERN_DAYS = 7
MIN_WEEKDAY_PATTERN_DAYS = 21
FIRST_WEEKEND_DAY = 5  # date.weekday() of Saturday


@dataclass(frozen=True, slots=True)
class SpendingPattern:
    """`known_days`: complete days in the sample. `by_weekday`: seven pools of days."""

    known_days: int
    by_weekday: tuple[Sequence[DailyCredits], ...]

    @property
    def has_enough_days(self) -> bool:
        return self.known_days >= MIN_PATTERN_DAYS

    @property
    def knows_weekdays(self) -> bool:
        return self.known_days >= MIN_WEEKDAY_PATTERN_DAYS

    def draw_day(self, on: date, rng: random.Random) -> DailyCredits:
        pool = self.by_weekday[on.weekday()]
        return pool[int(rng.random() * len(pool))]


def build_spending_pattern(
    days: Mapping[date, DailyCredits], first: date, today: date
) -> SpendingPattern:
    """Build the pattern from the complete days before today; a day without entries since `first`
    counts as a day without spend.

    Only spend counts; credited amounts are left out.
    """
    begin = max(first, today - timedelta(weeks=PATTERN_WEEKS))
    known_days = max(0, (today - begin).days)
    all_days = [begin + timedelta(days=number) for number in range(known_days)]
    spend_by_day = {on: replace(days.get(on, DailyCredits()), into=0) for on in all_days}
    pools = [
        [spend_by_day[on] for on in all_days if is_same_kind_of_day(on, weekday, known_days)]
        for weekday in range(7)
    ]
    fallback = list(spend_by_day.values()) or [DailyCredits()]
    return SpendingPattern(known_days, tuple(pool or fallback for pool in pools))


def is_same_kind_of_day(on: date, weekday: int, known_days: int) -> bool:
    if known_days >= MIN_WEEKDAY_PATTERN_DAYS:
        return on.weekday() == weekday
    return (on.weekday() >= FIRST_WEEKEND_DAY) == (weekday >= FIRST_WEEKEND_DAY)
