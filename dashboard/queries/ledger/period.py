"""Which days a page is about: their first and last in the team's zone, and what they are called."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from proxyapi.day_sums import bounds

SPANS = {"": ("Last 30 days", 30), "90d": ("Last 90 days", 90), "365d": ("Last 365 days", 365)}
EVERYTHING = "all"
MONTHS_OFFERED = 13
FIRST = date(2000, 1, 1)


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
        return "all" if self.says == "Everything" else self.says

    def moments(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """From the first moment on, until before the second."""
        return bounds(self.first, zone)[0], bounds(self.last, zone)[1]


def period_of(text: str, today: date) -> Period:
    """Of a span, a month "2026-11", a day "2026-11-18", or days "2026-11-03..2026-11-18".

    What it cannot mean is the default, the last 30 days.
    """
    if text == EVERYTHING:
        return Period(FIRST, today, "Everything")
    if text in SPANS:
        says, days = SPANS[text]
        return Period(today - timedelta(days=days - 1), today, says)
    try:
        return days_of(text) if ".." in text or text.count("-") == 2 else month_of(text)
    except (ValueError, OverflowError):
        return period_of("", today)


def days_of(text: str) -> Period:
    first, _, last = text.partition("..")
    start, end = sorted((date.fromisoformat(first), date.fromisoformat(last or first)))
    says = day_name(start) if start == end else f"{day_name(start)} to {day_name(end)}"
    return checked(Period(start, end, says))


def month_of(text: str) -> Period:
    first = date.fromisoformat(f"{text}-01")
    length = calendar.monthrange(first.year, first.month)[1]
    return checked(Period(first, first.replace(day=length), f"{first:%B %Y}"))


def checked(period: Period) -> Period:
    """Years that no ledger reaches would overflow when they become moments."""
    if not 2000 <= period.first.year <= period.last.year <= 2999:
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
    if chosen not in offered:
        offered[chosen] = period_of(chosen, today).says
    return offered


def day_name(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
