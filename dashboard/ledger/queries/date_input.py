"""Two days that a person typed, the first and the last, as a period or as a sentence about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dashboard.ledger.queries.period import (
    FIRST_LEDGER_DAY,
    LAST_LEDGER_DAY,
    RANGE_SEPARATOR,
    full_date,
    is_day_range,
)

MAX_DATE_INPUT_CHARS = 40  # characters of what was typed that are shown again


@dataclass(frozen=True, slots=True)
class DateRangeInput:
    """As they were typed, in the order of the fields.

    `period`: what they mean, as in an address; empty where `problem` says what is wrong, and where
    there are none. `wrong`: the field that the problem is about, from or to.
    """

    first: str = ""
    last: str = ""
    period: str = ""
    problem: str = ""
    problem_field: str = ""


def parse_date_range_input(query: Mapping[str, str]) -> DateRangeInput:
    """One of them alone is open at the other end."""
    first, last = (query.get(name, "").strip()[:MAX_DATE_INPUT_CHARS] for name in ("from", "to"))
    days = [parse_ledger_day(text) for text in (first, last)]
    for name, text, day in zip(("from", "to"), (first, last), days, strict=True):
        if text and day is None:
            return DateRangeInput(first, last, problem=invalid_day_text(text), problem_field=name)
    start, end = days
    if start and end and end < start:
        said = f"The last day, {full_date(end)}, lies before the first, {full_date(start)}."
        return DateRangeInput(first, last, problem=said, problem_field="to")
    if not first and not last:
        return DateRangeInput()
    return DateRangeInput(
        first, last, f"{first}{RANGE_SEPARATOR}{last}" if first != last else first
    )


def date_range_of_period(period: str) -> DateRangeInput:
    """The days of a period in an address, for the fields; those of a span are none."""
    if not is_day_range(period):
        return DateRangeInput()
    first, between, last = period.partition(RANGE_SEPARATOR)
    return DateRangeInput(first, last if between else first)


def parse_ledger_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST_LEDGER_DAY <= day <= LAST_LEDGER_DAY and text == day.isoformat() else None


def invalid_day_text(text: str) -> str:
    return (
        f"“{text}” is no day that a ledger has. Write it as year, month and day, such as "
        "2026-11-18."
    )
