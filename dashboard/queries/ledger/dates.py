"""Two days that a person typed, the first and the last, as a period or as a sentence about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dashboard.queries.ledger.period import BETWEEN, FIRST, LAST, day_name, is_days

LONGEST = 40  # characters of what was typed that are shown again


@dataclass(frozen=True, slots=True)
class Dates:
    """As they were typed, in the order of the fields.

    `period`: what they mean, as in an address; empty where `problem` says what is wrong, and where
    there are none. `wrong`: the field that the problem is about, from or to.
    """

    first: str = ""
    last: str = ""
    period: str = ""
    problem: str = ""
    wrong: str = ""


def typed(query: Mapping[str, str]) -> Dates:
    """One of them alone is open at the other end."""
    first, last = (query.get(name, "").strip()[:LONGEST] for name in ("from", "to"))
    days = [day_or_none(text) for text in (first, last)]
    for name, text, day in zip(("from", "to"), (first, last), days, strict=True):
        if text and day is None:
            return Dates(first, last, problem=no_day(text), wrong=name)
    start, end = days
    if start and end and end < start:
        said = f"The last day, {day_name(end)}, lies before the first, {day_name(start)}."
        return Dates(first, last, problem=said, wrong="to")
    if not first and not last:
        return Dates()
    return Dates(first, last, f"{first}{BETWEEN}{last}" if first != last else first)


def shown(period: str) -> Dates:
    """The days of a period in an address, for the fields; those of a span are none."""
    if not is_days(period):
        return Dates()
    first, between, last = period.partition(BETWEEN)
    return Dates(first, last if between else first)


def day_or_none(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if FIRST <= day <= LAST and text == day.isoformat() else None


def no_day(text: str) -> str:
    return (
        f"“{text}” is no day that a ledger has. Write it as year, month and day, such as "
        "2026-11-18."
    )
