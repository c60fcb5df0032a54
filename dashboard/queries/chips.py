"""A filter of a page as a chip: a select whose choice is in the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Addressed(Protocol):
    """The filters of a page, which know the address that asks for them."""

    def url(self, **changes: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter: its name in the URL, what it says now, its options; `clear_url` when it is set.

    A `plain` one says enough without its label, such as a month.
    """

    name: str
    label: str
    says: str
    options: tuple[Option, ...]
    clear_url: str
    plain: bool = False


def chip(
    name: str, label: str, options: Mapping[str, str], filters: Addressed, *, plain: bool = False
) -> Chip:
    """`options`: value in the URL to what it says; the value "" is no filter."""
    value = str(getattr(filters, name) or "")
    chosen = value if value in options else ""
    return Chip(
        name,
        label,
        options[chosen],
        tuple(Option(value, says, value == chosen) for value, says in options.items()),
        filters.url(**{name: ""}) if chosen else "",
        plain,
    )
