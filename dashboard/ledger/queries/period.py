"""Which days a page is about: their first and last in the team's zone, and what they are called."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from proxyapi.rollups.daily_totals import day_bounds

PRESET_PERIODS = {
    "": ("Last 30 days", 30),
    "90d": ("Last 90 days", 90),
    "365d": ("Last 365 days", 365),
}
ALL_TIME, RANGE_SEPARATOR = "all", ".."
MONTHS_OFFERED, YEARS_OFFERED = 13, 3
FIRST_LEDGER_DAY, LAST_LEDGER_DAY = (
    date(2000, 1, 1),
    date(2999, 12, 31),
)  # days that a ledger can have


@dataclass(frozen=True, slots=True)
class LedgerPeriod:
    """`first` and `last` are both within it."""

    first: date
    last: date
    label: str

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def label_in_sentence(self) -> str:
        """As in "412 in November 2026"."""
        first, rest = self.label[:1], self.label[1:]
        if self.label.startswith("Last"):
            return f"the {first.lower()}{rest}"
        if self.label.startswith(("Since", "Until")):
            return f"the days {first.lower()}{rest}"
        return "all" if self.label == "Everything" else self.label

    def time_bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """From the first moment on, until before the second."""
        return day_bounds(self.first, zone)[0], day_bounds(self.last, zone)[1]


def parse_ledger_period(text: str, today: date) -> LedgerPeriod:
    """Of a span, a year "2026", a month "2026-11", a day "2026-11-18", or days
    "2026-11-03..2026-11-18", of which one may be missing.

    What it cannot mean is the default, the last 30 days.
    """
    if text == ALL_TIME:
        return LedgerPeriod(FIRST_LEDGER_DAY, today, "Everything")
    if text in PRESET_PERIODS:
        says, days = PRESET_PERIODS[text]
        return LedgerPeriod(today - timedelta(days=days - 1), today, says)
    try:
        if len(text) == 4:
            return validate_period(
                LedgerPeriod(date(int(text), 1, 1), date(int(text), 12, 31), text)
            )
        return parse_day_range(text, today) if is_day_range(text) else parse_month_period(text)
    except (ValueError, OverflowError):
        return parse_ledger_period("", today)


def is_day_range(text: str) -> bool:
    return RANGE_SEPARATOR in text or text.count("-") == 2


def parse_day_range(text: str, today: date) -> LedgerPeriod:
    first, between, last = text.partition(RANGE_SEPARATOR)
    if not between:
        return validate_period(LedgerPeriod(day := date.fromisoformat(first), day, full_date(day)))
    if not last:
        start = date.fromisoformat(first)
        return validate_period(LedgerPeriod(start, max(start, today), f"Since {full_date(start)}"))
    if not first:
        end = date.fromisoformat(last)
        return validate_period(LedgerPeriod(FIRST_LEDGER_DAY, end, f"Until {full_date(end)}"))
    start, end = sorted((date.fromisoformat(first), date.fromisoformat(last)))
    says = full_date(start) if start == end else f"{full_date(start)} to {full_date(end)}"
    return validate_period(LedgerPeriod(start, end, says))


def parse_month_period(text: str) -> LedgerPeriod:
    first = date.fromisoformat(f"{text}-01")
    length = calendar.monthrange(first.year, first.month)[1]
    return validate_period(LedgerPeriod(first, first.replace(day=length), f"{first:%B %Y}"))


def validate_period(period: LedgerPeriod) -> LedgerPeriod:
    """Years that no ledger reaches would overflow when they become moments."""
    if not FIRST_LEDGER_DAY <= period.first <= period.last <= LAST_LEDGER_DAY:
        raise ValueError(period)
    return period


def is_ledger_period(text: str, today: date) -> bool:
    return text in (ALL_TIME, *PRESET_PERIODS) or parse_ledger_period(
        text, today
    ) != parse_ledger_period("", today)


def build_period_options(chosen: str, today: date) -> dict[str, str]:
    """What a select offers; an odd choice of the address is among it."""
    offered = {value: says for value, (says, _) in PRESET_PERIODS.items()} | {
        ALL_TIME: "Everything"
    }
    month = today.replace(day=1)
    for _ in range(MONTHS_OFFERED):
        offered[f"{month:%Y-%m}"] = f"{month:%B %Y}"
        month = (month - timedelta(days=1)).replace(day=1)
    offered |= {str(today.year - ago): f"{today.year - ago}" for ago in range(YEARS_OFFERED)}
    if chosen not in offered:
        offered[chosen] = parse_ledger_period(chosen, today).label
    return offered


def full_date(day: date) -> str:
    return f"{day.day} {day:%b %Y}"
