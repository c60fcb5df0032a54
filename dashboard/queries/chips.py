"""A filter of a page as a chip: a select whose choice is in the address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

PLACES = ("after", "before")  # where a page begins; other filters begin at their first one


class Addressed(Protocol):
    """The filters of a page, which know the address that asks for them."""

    def url(self, **changes: Any) -> str: ...


class Named(Addressed, Protocol):
    """Those that can tell how they are called there."""

    @property
    def named(self) -> dict[str, object]: ...


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


@dataclass(frozen=True, slots=True)
class Sheet:
    """The filters on a phone, all in one form: the choices, and what is kept beside them."""

    url: str
    chips: tuple[Chip, ...]
    kept: tuple[tuple[str, str], ...]


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


def sheet(url: str, chips: Iterable[Chip], filters: Named) -> Sheet:
    """`url`: the page alone, without any filter."""
    chips = tuple(chips)
    return Sheet(url, chips, kept(filters, *(one.name for one in chips)))


def kept(filters: Named, *asked: str) -> tuple[tuple[str, str], ...]:
    """Names and values that a form of `asked` fields sends besides, but for the page's place."""
    values = {name: str(value) for name, value in filters.named.items() if value}
    return tuple((name, values[name]) for name in values if name not in (*asked, *PLACES))
