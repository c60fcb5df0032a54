"""The two date fields beside the presets, as a form of their own."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from dashboard.queries.chips import kept
from dashboard.queries.ledger.dates import shown
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.scope import Scope


@dataclass(frozen=True, slots=True)
class DateFields:
    """`problem`: what is wrong with the days that were typed, and what is shown instead; `wrong`:
    the field that it is about. `kept`: the other filters, as names and values."""

    url: str
    first: str
    last: str
    problem: str
    wrong: str
    zone: str
    kept: tuple[tuple[str, str], ...]


def fields_of(page: str, filters: Filters, scope: Scope) -> DateFields:
    """`filters` as they were asked for on that page; no query."""
    typed = filters.dates
    days = typed if typed.problem else shown(filters.period)
    return DateFields(
        url=reverse(page),
        first=days.first,
        last=days.last,
        problem=f"{typed.problem} Shown instead: {scope.period.within}." if typed.problem else "",
        wrong=typed.wrong,
        zone=scope.zone.key.replace("_", " "),
        kept=kept(filters, "period"),
    )
