"""What the address of a ledger page asks for, and the address that asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.queries.ledger.period import is_period

SORTS = {"": "Newest first", "oldest": "Oldest first"}
DIRECTIONS = {"": "any", "out": "out", "in": "in"}
SOURCES = {"": "any", "api": "the API", "web": "not the API"}
MATCHES = {"": "any", "yes": "one of ours", "no": "none of ours"}
STACKS = {"": "By member", "feature": "By feature"}
NARROWING = ("account", "member", "job", "feature", "label", "direction", "source", "match")


class Place(NamedTuple):
    """Where a page ended: time, account and position of its last row."""

    at: datetime
    account: UUID
    position: int

    def __str__(self) -> str:
        return f"{self.at.timestamp():.6f}.{self.account.hex}.{self.position}"


@dataclass(frozen=True, slots=True)
class Filters:
    """Anything that the address cannot mean is as if it were not there."""

    period: str = ""
    account: UUID | None = None
    member: int | None = None
    job: UUID | None = None
    feature: str = ""
    label: str = ""
    direction: str = ""
    source: str = ""
    match: str = ""
    sort: str = ""
    by: str = ""
    after: Place | None = None

    @property
    def narrow(self) -> bool:
        return any(getattr(self, name) for name in NARROWING)

    @property
    def oldest(self) -> bool:
        return self.sort == "oldest"

    def url(self, page: str = "ledger", **changes: Any) -> str:
        """The address with these filters; a changed one starts at its first page."""
        new = replace(self, **{"after": None, **changes})
        named = {name: getattr(new, name) for name in (*NARROWING, "period", "sort", "by", "after")}
        query = urlencode({name: value for name, value in named.items() if value})
        return f"{reverse(page)}{'?' if query else ''}{query}"

    def part_url(self, part: str, **more: Any) -> str:
        """Where a part of the page fetches itself again."""
        url = self.url(after=self.after)
        return f"{url}{'&' if '?' in url else '?'}{urlencode({'part': part, **more})}"


def filters_of(query: Mapping[str, str]) -> Filters:
    member, period = query.get("member", ""), query.get("period", "")
    return Filters(
        period=period if is_period(period, timezone.now().date()) else "",
        account=uuid_or_none(query.get("account", "")),
        member=int(member) if member.isascii() and member.isdigit() and len(member) < 10 else None,
        job=uuid_or_none(query.get("job", "")),
        feature=query.get("feature", "")[:60],
        label=query.get("label", "")[:200],
        direction=known(query.get("direction", ""), DIRECTIONS),
        source=known(query.get("source", ""), SOURCES),
        match=known(query.get("match", ""), MATCHES),
        sort=known(query.get("sort", ""), SORTS),
        by=known(query.get("by", ""), STACKS),
        after=place_or_none(query.get("after", "")),
    )


def known(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""


def uuid_or_none(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def place_or_none(text: str) -> Place | None:
    try:
        seconds, fraction, account, position = text.split(".")
        at = datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(fraction))
        return Place(at, UUID(account), int(position))
    except (ValueError, OverflowError, OSError):
        return None
