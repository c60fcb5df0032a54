"""What the address of the library asks for: state, search, member, format, order, page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

SHELVES = {  # slug in the URL: label, glyph
    "": ("All", ""),
    "rendering": ("Rendering", "running"),
    "completed": ("Completed", ""),
    "failed": ("Failed", "failed"),
    "unknown": ("Unknown", "unknown"),
    "waiting": ("Waiting", "waiting"),
    "drafts": ("Drafts", "draft"),
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
        return f"{self.rank}.{self.made_at.timestamp():.6f}.{self.id.hex}"


@dataclass(frozen=True, slots=True)
class Filters:
    """What the URL asks for; anything it cannot mean is as if it were not there."""

    state: str = ""
    search: str = ""
    member: int | None = None
    format: str = ""
    sort: str = ""
    before: Place | None = None

    @property
    def narrow(self) -> bool:
        return bool(self.search or self.member or self.format)

    def url(self, **changes: Any) -> str:
        """The address of the library with these filters; a changed one starts at its first page."""
        new = replace(self, **{"before": None, **changes})
        named = {
            "state": new.state,
            "q": new.search,
            "member": new.member,
            "format": new.format,
            "sort": new.sort,
            "before": new.before,
        }
        query = urlencode({name: value for name, value in named.items() if value})
        return f"{reverse('library')}{'?' if query else ''}{query}"


def filters_of(query: Mapping[str, str]) -> Filters:
    member = query.get("member", "")
    return Filters(
        state=known(query.get("state", ""), SHELVES),
        search=query.get("q", "").strip()[:200],
        member=int(member) if member.isascii() and member.isdigit() and len(member) < 10 else None,
        format=known(query.get("format", ""), FORMATS),
        sort=known(query.get("sort", ""), SORTS),
        before=place_or_none(query.get("before", "")),
    )


def known(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""


def place_or_none(text: str) -> Place | None:
    try:
        rank, seconds, fraction, id = text.split(".")
        made_at = datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(fraction))
        return Place(int(rank), made_at, UUID(id))
    except (ValueError, OverflowError, OSError):
        return None
