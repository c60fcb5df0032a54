"""What the address of the library asks for: state, search, member, format, order, page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from dashboard.queries import address

HIDDEN = "hidden"
SHELVES = {  # slug in the URL: label, glyph
    "": ("All", ""),
    "rendering": ("Rendering", "running"),
    "completed": ("Completed", ""),
    "failed": ("Failed", "failed"),
    "unknown": ("Unknown", "unknown"),
    "waiting": ("Waiting", "waiting"),
    "drafts": ("Drafts", "draft"),
    HIDDEN: ("Hidden", ""),
}
MOVING = ("rendering", "unknown", "waiting")
SORTS = {"": "Newest first", "oldest": "Oldest first"}
FORMATS = {"": "any", "16:9": "16:9", "9:16": "9:16", "1:1": "1:1"}


class Place(NamedTuple):
    """Where a page ended: how its last card ranked, when it was made, and its id."""

    rank: int
    made_at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{self.rank}.{address.stamp(self.made_at)}.{self.id.hex}"


@dataclass(frozen=True, slots=True)
class Filters:
    """What the URL asks for."""

    state: str = ""
    search: str = ""
    member: int | None = None
    format: str = ""
    sort: str = ""
    before: Place | None = None

    @property
    def hidden(self) -> bool:
        """Whether it is the list of hidden videos, which are in no other one."""
        return self.state == HIDDEN

    @property
    def narrow(self) -> bool:
        return bool(self.search or self.member or self.format)

    @property
    def named(self) -> dict[str, object]:
        """As they are called in the address."""
        return {
            "state": self.state,
            "q": self.search,
            "member": self.member,
            "format": self.format,
            "sort": self.sort,
            "before": self.before,
        }

    def url(self, **changes: Any) -> str:
        """The address of the library with these filters; a changed one starts at its first page."""
        return address.address("library", replace(self, **{"before": None, **changes}).named)


def filters_of(query: Mapping[str, str]) -> Filters:
    return Filters(
        state=address.known(query.get("state", ""), SHELVES),
        search=address.words(query),
        member=address.number_or_none(query.get("member", "")),
        format=address.known(query.get("format", ""), FORMATS),
        sort=address.known(query.get("sort", ""), SORTS),
        before=place_or_none(query.get("before", "")),
    )


def place_or_none(text: str) -> Place | None:
    try:
        rank, seconds, fraction, id = text.split(".")
        return Place(int(rank), address.moment(seconds, fraction), UUID(id))
    except (ValueError, OverflowError, OSError):
        return None
