"""Filter chips: a select whose choice is in the URL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dashboard.shared.query_params import PageFilters


@dataclass(frozen=True, slots=True)
class ChipOption:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter: its URL parameter, current value and options. `clear_url` is empty if it is not
    set.

    A `plain` chip is shown without its label, such as a month.
    """

    name: str
    label: str
    current_label: str
    options: tuple[ChipOption, ...]
    clear_url: str
    plain: bool = False


def build_filter_chip(
    name: str, label: str, options: Mapping[str, str], filters: PageFilters, *, plain: bool = False
) -> FilterChip:
    """`options` maps URL values to labels; the value "" means no filter."""
    value = str(getattr(filters, name) or "")
    chosen = value if value in options else ""
    return FilterChip(
        name,
        label,
        options[chosen],
        tuple(
            ChipOption(value, option_label, value == chosen)
            for value, option_label in options.items()
        ),
        filters.url(**{name: ""}) if chosen else "",
        plain,
    )


def build_chips(filters: PageFilters, **loaded: Mapping[str, str] | None) -> Iterator[FilterChip]:
    """Return the chips of the filters that have a label: plain ones first, such as a period, then
    in the order of the fields. `loaded`: options from the database, or None for a filter that this
    reader has not."""
    params = sorted(filters.params().items(), key=lambda item: not item[1].plain)
    for name, param in params:
        options = loaded.get(name, param.options)
        if param.label and options is not None:
            options = options if "" in options else {"": param.unset, **options}
            yield build_filter_chip(name, param.label, options, filters, plain=param.plain)


def build_hidden_params(filters: PageFilters, *field_names: str) -> tuple[tuple[str, str], ...]:
    """Return the parameters that a form with these fields sends as hidden ones, without the page
    cursor."""
    values = {name: str(value) for name, value in filters.named.items() if value}
    return tuple(
        (name, values[name]) for name in values if name not in (*field_names, filters.CURSOR)
    )
