"""A filter of a page as a chip: a select whose choice is in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.shared.query_params import PageFilters


@dataclass(frozen=True, slots=True)
class ChipOption:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter: its name in the URL, what it says now, its options; `clear_url` when it is set.

    A `plain` one says enough without its label, such as a month.
    """

    name: str
    label: str
    current_label: str
    options: tuple[ChipOption, ...]
    clear_url: str
    plain: bool = False


@dataclass(frozen=True, slots=True)
class FilterSheet:
    """The filters on a phone, all in one form: the choices, and what is kept beside them."""

    url: str
    chips: tuple[FilterChip, ...]
    hidden_params: tuple[tuple[str, str], ...]


def build_filter_chip(
    name: str, label: str, options: Mapping[str, str], filters: PageFilters, *, plain: bool = False
) -> FilterChip:
    """`options`: value in the URL to what it says; the value "" is no filter."""
    value = str(getattr(filters, name) or "")
    chosen = value if value in options else ""
    return FilterChip(
        name,
        label,
        options[chosen],
        tuple(ChipOption(value, says, value == chosen) for value, says in options.items()),
        filters.url(**{name: ""}) if chosen else "",
        plain,
    )


def build_filter_sheet(url: str, chips: Iterable[FilterChip], filters: PageFilters) -> FilterSheet:
    """`url`: the page alone, without any filter."""
    chips = tuple(chips)
    return FilterSheet(url, chips, build_hidden_params(filters, *(one.name for one in chips)))


def build_hidden_params(filters: PageFilters, *asked: str) -> tuple[tuple[str, str], ...]:
    """Names and values that a form of `asked` fields sends besides, but for the page's place."""
    values = {name: str(value) for name, value in filters.named.items() if value}
    return tuple((name, values[name]) for name in values if name not in (*asked, filters.CURSOR))
