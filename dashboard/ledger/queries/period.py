"""The period of a ledger page: its first and last day in the team's zone, its label, the days that
a person typed, and its granularity."""

from __future__ import annotations

import calendar
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateField, Func
from django.db.models.sql.compiler import SQLCompiler

from proxyapi.rollups.daily_totals import day_bounds

MAX_DAYS_BY_DAY, MAX_DAYS_BY_WEEK = 62, 400  # days of a period listed by day, by week
PRESET_DAYS = {"": 30, "90d": 90, "365d": 365}
LAST_MONTH, THIS_QUARTER, THIS_YEAR, ALL_TIME = "last-month", "this-quarter", "this-year", "all"
PRESET_LABELS = {
    **{value: f"Last {days} days" for value, days in PRESET_DAYS.items()},
    LAST_MONTH: "Last month",
    THIS_QUARTER: "This quarter",
    THIS_YEAR: "This year",
    ALL_TIME: "Everything",
}
RANGE_SEPARATOR = ".."
MONTHS_OFFERED, YEARS_OFFERED = 13, 3
FIRST_LEDGER_DAY, LAST_LEDGER_DAY = date(2000, 1, 1), date(2999, 12, 31)
MAX_DATE_INPUT_CHARS = 40  # characters of the typed text that are shown again


class Granularity(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def first_day(self, day: date) -> date:
        """The first day of the step that contains `day`; Monday for a week."""
        if self is Granularity.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Granularity.MONTH else day

    def label(self, start: date) -> str:
        if self is Granularity.MONTH:
            return f"{start:%B %Y}"
        return (
            f"Week of {start.day} {start:%b %Y}"
            if self is Granularity.WEEK
            else f"{start:%a} {start.day} {start:%b}"
        )

    def short_label(self, start: date) -> str:
        """The label below a chart."""
        return f"{start:%b %Y}" if self is Granularity.MONTH else f"{start.day} {start:%b}"


def choose_granularity(first: date, last: date) -> Granularity:
    days = (last - first).days + 1
    if days <= MAX_DAYS_BY_DAY:
        return Granularity.DAY
    return Granularity.WEEK if days <= MAX_DAYS_BY_WEEK else Granularity.MONTH


class TruncToGranularity(Func):
    """`Granularity.first_day` in the database, so that years return only a few rows."""

    output_field = DateField()
    MODIFIERS = {
        Granularity.DAY: "",
        Granularity.WEEK: ", 'weekday 0', '-6 days'",
        Granularity.MONTH: ", 'start of month'",
    }

    def __init__(self, day: str, step: Granularity, **extra: Any) -> None:
        super().__init__(day, step=step.value, **extra)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        modifiers = self.MODIFIERS[Granularity(self.extra["step"])]
        template = f"DATE(%(expressions)s{modifiers})"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "DATE_TRUNC('%(step)s', %(expressions)s::timestamp)::date"
        return self.as_sql(compiler, connection, template=template, **context)


@dataclass(frozen=True, slots=True)
class LedgerPeriod:
    """`first` and `last` are both included."""

    first: date
    last: date
    label: str

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def label_in_sentence(self) -> str:
        """The label within a sentence, as in "412 in November 2026"."""
        first, remainder = self.label[:1], self.label[1:]
        if self.label.startswith("Last"):
            return f"the {first.lower()}{remainder}"
        if self.label.startswith(("Since", "Until")):
            return f"the days {first.lower()}{remainder}"
        if self.label.startswith("This"):
            return f"{first.lower()}{remainder}"
        return "all" if self.label == "Everything" else self.label

    def time_bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """The first moment of the period, and the first one after it."""
        return day_bounds(self.first, zone)[0], day_bounds(self.last, zone)[1]


def parse_ledger_period(text: str, today: date) -> LedgerPeriod:
    """Parse a preset, a year "2026", a month "2026-11", a day "2026-11-18", or a range
    "2026-11-03..2026-11-18", of which one end may be missing.

    Anything else is the default, the last 30 days.
    """
    if text in PRESET_LABELS:
        return preset_period(text, today)
    try:
        if len(text) == 4:
            return validate_period(
                LedgerPeriod(date(int(text), 1, 1), date(int(text), 12, 31), text)
            )
        return parse_day_range(text, today) if is_day_range(text) else parse_month_period(text)
    except (ValueError, OverflowError):
        return parse_ledger_period("", today)


def preset_period(text: str, today: date) -> LedgerPeriod:
    """The last month is a whole one; the others end today."""
    first_of_month = today.replace(day=1)
    if text == LAST_MONTH:
        return parse_month_period(f"{first_of_month - timedelta(days=1):%Y-%m}")
    if text in PRESET_DAYS:
        first = today - timedelta(days=PRESET_DAYS[text] - 1)
    else:
        first = {
            THIS_QUARTER: first_of_month.replace(month=today.month - (today.month - 1) % 3),
            THIS_YEAR: first_of_month.replace(month=1),
            ALL_TIME: FIRST_LEDGER_DAY,
        }[text]
    return LedgerPeriod(first, today, PRESET_LABELS[text])


def is_day_range(text: str) -> bool:
    return RANGE_SEPARATOR in text or text.count("-") == 2


def parse_day_range(text: str, today: date) -> LedgerPeriod:
    first, separator, last = text.partition(RANGE_SEPARATOR)
    if not separator:
        return validate_period(LedgerPeriod(day := date.fromisoformat(first), day, full_date(day)))
    if not last:
        start = date.fromisoformat(first)
        return validate_period(LedgerPeriod(start, max(start, today), f"Since {full_date(start)}"))
    if not first:
        end = date.fromisoformat(last)
        return validate_period(LedgerPeriod(FIRST_LEDGER_DAY, end, f"Until {full_date(end)}"))
    start, end = sorted((date.fromisoformat(first), date.fromisoformat(last)))
    label = full_date(start) if start == end else f"{full_date(start)} to {full_date(end)}"
    return validate_period(LedgerPeriod(start, end, label))


def parse_month_period(text: str) -> LedgerPeriod:
    first = date.fromisoformat(f"{text}-01")
    length = calendar.monthrange(first.year, first.month)[1]
    return validate_period(LedgerPeriod(first, first.replace(day=length), f"{first:%B %Y}"))


def validate_period(period: LedgerPeriod) -> LedgerPeriod:
    """Raise `ValueError` outside the years of a ledger, which would overflow as datetimes."""
    if not FIRST_LEDGER_DAY <= period.first <= period.last <= LAST_LEDGER_DAY:
        raise ValueError(period)
    return period


def is_ledger_period(text: str, today: date) -> bool:
    return text in PRESET_LABELS or parse_ledger_period(text, today) != parse_ledger_period(
        "", today
    )


def build_period_options(chosen: str, today: date) -> dict[str, str]:
    """The options of the select, including a chosen period that is not one of the usual."""
    options = dict(PRESET_LABELS)
    month = today.replace(day=1)
    for _ in range(MONTHS_OFFERED):
        options[f"{month:%Y-%m}"] = f"{month:%B %Y}"
        month = (month - timedelta(days=1)).replace(day=1)
    options |= {str(today.year - ago): f"{today.year - ago}" for ago in range(YEARS_OFFERED)}
    if chosen not in options:
        options[chosen] = parse_ledger_period(chosen, today).label
    return options


def full_date(day: date) -> str:
    return f"{day.day} {day:%b %Y}"


@dataclass(frozen=True, slots=True)
class DateRangeInput:
    """The days as typed, in the order of the fields.

    `period` is what they mean, as in a URL; empty without days and if `problem` says what is wrong.
    `problem_field` is the field with the problem, from or to.
    """

    first: str = ""
    last: str = ""
    period: str = ""
    problem: str = ""
    problem_field: str = ""


def parse_date_range_input(query: Mapping[str, str]) -> DateRangeInput:
    """A missing day leaves that end open."""
    first, last = (query.get(name, "").strip()[:MAX_DATE_INPUT_CHARS] for name in ("from", "to"))
    days = [parse_ledger_day(text) for text in (first, last)]
    for name, text, day in zip(("from", "to"), (first, last), days, strict=True):
        if text and day is None:
            return DateRangeInput(first, last, problem=invalid_day_text(text), problem_field=name)
    start, end = days
    if start and end and end < start:
        problem = f"The last day, {full_date(end)}, is before the first, {full_date(start)}."
        return DateRangeInput(first, last, problem=problem, problem_field="to")
    if not first and not last:
        return DateRangeInput()
    return DateRangeInput(
        first, last, f"{first}{RANGE_SEPARATOR}{last}" if first != last else first
    )


def date_range_of_period(period: str) -> DateRangeInput:
    """The days of a period for the date fields; empty for a preset, a month or a year."""
    if not is_day_range(period):
        return DateRangeInput()
    first, separator, last = period.partition(RANGE_SEPARATOR)
    return DateRangeInput(first, last if separator else first)


def parse_ledger_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_LEDGER_DAY <= day <= LAST_LEDGER_DAY and text == day.isoformat() else None


def invalid_day_text(text: str) -> str:
    return f"“{text}” is not a valid date. Enter year, month and day, such as 2026-11-18."
