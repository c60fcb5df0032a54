"""The two date fields beside the presets, as a form of their own."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from dashboard.ledger.queries.date_input import date_range_of_period
from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.scope import LedgerScope
from dashboard.shared.filter_chips import build_hidden_params


@dataclass(frozen=True, slots=True)
class DateFields:
    """`problem`: what is wrong with the days that were typed, and what is shown instead; `wrong`:
    the field that it is about. `build_hidden_params`: the other filters, as names and values."""

    url: str
    first: str
    last: str
    problem: str
    problem_field: str
    zone: str
    hidden_params: tuple[tuple[str, str], ...]


def build_date_fields(page: str, filters: LedgerFilters, scope: LedgerScope) -> DateFields:
    """`filters` as they were asked for on that page; no query."""
    typed = filters.dates
    days = typed if typed.problem else date_range_of_period(filters.period)
    return DateFields(
        url=reverse(page),
        first=days.first,
        last=days.last,
        problem=f"{typed.problem} Shown instead: {scope.period.label_in_sentence}."
        if typed.problem
        else "",
        problem_field=typed.problem_field,
        zone=scope.zone.key.replace("_", " "),
        hidden_params=build_hidden_params(filters, "period"),
    )
