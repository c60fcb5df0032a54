"""Which days a page is about: their first and last in the team's zone, and what they are called."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from proxyapi.rollups.daily_totals import day_bounds

SPANS = {"": ("Last 30 days", 30), "90d": ("Last 90 days", 90), "365d": ("Last 365 days", 365)}
EVERYTHING, BETWEEN = "all", ".."
MONTHS_OFFERED, YEARS_OFFERED = 13, 3
FIRST, LAST = date(2000, 1, 1), date(2999, 12, 31)  # days that a ledger can have


@dataclass(frozen=True, slots=True)
class Period:
    """`first` and `last` are both within it."""

    first: date
    last: date
    says: str

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def within(self) -> str:
        """As in "412 in November 2026"."""
        first, rest = self.says[:1], self.says[1:]
        if self.says.startswith("Last"):
            return f"the {first.lower()}{rest}"
        if self.says.startswith(("Since", "Until")):
            return f"the days {first.lower()}{rest}"
        return "all" if self.says == "Everything" else self.says

    def moments(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """From the first moment on, until before the second."""
        return day_bounds(self.first, zone)[0], day_bounds(self.last, zone)[1]


def period_of(text: str, today: date) -> Period:
    """Of a span, a year "2026", a month "2026-11", a day "2026-11-18", or days
    "2026-11-03..2026-11-18", of which one may be missing.

    What it cannot mean is the default, the last 30 days.
    """
    if text == EVERYTHING:
        return Period(FIRST, today, "Everything")
    if text in SPANS:
        says, days = SPANS[text]
        return Period(today - timedelta(days=days - 1), today, says)
    try:
        if len(text) == 4:
            return checked(Period(date(int(text), 1, 1), date(int(text), 12, 31), text))
        return days_of(text, today) if is_days(text) else month_of(text)
    except (ValueError, OverflowError):
        return period_of("", today)


def is_days(text: str) -> bool:
    return BETWEEN in text or text.count("-") == 2


def days_of(text: str, today: date) -> Period:
    first, between, last = text.partition(BETWEEN)
    if not between:
        return checked(Period(day := date.fromisoformat(first), day, day_name(day)))
    if not last:
        start = date.fromisoformat(first)
        return checked(Period(start, max(start, today), f"Since {day_name(start)}"))
    if not first:
        end = date.fromisoformat(last)
        return checked(Period(FIRST, end, f"Until {day_name(end)}"))
    start, end = sorted((date.fromisoformat(first), date.fromisoformat(last)))
    says = day_name(start) if start == end else f"{day_name(start)} to {day_name(end)}"
    return checked(Period(start, end, says))


def month_of(text: str) -> Period:
    first = date.fromisoformat(f"{text}-01")
    length = calendar.monthrange(first.year, first.month)[1]
    return checked(Period(first, first.replace(day=length), f"{first:%B %Y}"))


def checked(period: Period) -> Period:
    """Years that no ledger reaches would overflow when they become moments."""
    if not FIRST <= period.first <= period.last <= LAST:
        raise ValueError(period)
    return period


def is_period(text: str, today: date) -> bool:
    return text in (EVERYTHING, *SPANS) or period_of(text, today) != period_of("", today)


def periods(chosen: str, today: date) -> dict[str, str]:
    """What a select offers; an odd choice of the address is among it."""
    offered = {value: says for value, (says, _) in SPANS.items()} | {EVERYTHING: "Everything"}
    month = today.replace(day=1)
    for _ in range(MONTHS_OFFERED):
        offered[f"{month:%Y-%m}"] = f"{month:%B %Y}"
        month = (month - timedelta(days=1)).replace(day=1)
    offered |= {str(today.year - ago): f"{today.year - ago}" for ago in range(YEARS_OFFERED)}
    if chosen not in offered:
        offered[chosen] = period_of(chosen, today).says
    return offered


def day_name(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
