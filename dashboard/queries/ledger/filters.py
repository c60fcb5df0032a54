"""What the address of a ledger page asks for, and the address that asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from dashboard.queries import address
from dashboard.queries.ledger.dates import Dates, typed
from dashboard.queries.ledger.period import is_period

SORTS = {"": "Newest first", "oldest": "Oldest first"}
DIRECTIONS = {"": "any", "out": "out", "in": "in"}
SOURCES = {"": "any", "api": "the API", "web": "not the API"}
MATCHES = {"": "any", "yes": "one of ours", "no": "none of ours"}
STACKS = {"": "By member", "feature": "By feature"}
# The account is none of these: what a page leaves of it is whole.
NARROWING = ("search", "member", "job", "feature", "label", "direction", "source", "match")
OTHERS = ("account", *NARROWING[1:], "period", "sort", "by", "after")


class Place(NamedTuple):
    """Where a page ended: time, account and position of its last row."""

    at: datetime
    account: UUID
    position: int

    def __str__(self) -> str:
        return f"{address.stamp(self.at)}.{self.account.hex}.{self.position}"


@dataclass(frozen=True, slots=True)
class Filters:
    """`dates` are those that were typed in; what they mean is the `period`."""

    search: str = ""
    period: str = ""
    dates: Dates = field(default_factory=Dates)
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
        return bool(self.account) or self.picks

    @property
    def picks(self) -> bool:
        """Whether rows of an account are left out among those that are shown."""
        return any(getattr(self, name) for name in NARROWING)

    @property
    def oldest(self) -> bool:
        return self.sort == "oldest"

    @property
    def named(self) -> dict[str, object]:
        """As they are called in the address."""
        return {"q": self.search, **{name: getattr(self, name) for name in OTHERS}}

    def url(self, page: str = "ledger", **changes: Any) -> str:
        """The address with these filters; a changed one starts at its first page."""
        return address.address(page, replace(self, **{"after": None, **changes}).named)

    def part_url(self, part: str, **more: Any) -> str:
        """Where a part of the page fetches itself again."""
        url = self.url(after=self.after)
        return f"{url}{'&' if '?' in url else '?'}{urlencode({'part': part, **more})}"


def filters_of(query: Mapping[str, str]) -> Filters:
    dates, period = typed(query), query.get("period", "")
    period = period if is_period(period, timezone.now().date()) else ""
    return Filters(
        search=address.words(query),
        period=dates.period or period,
        dates=dates,
        account=address.uuid_or_none(query.get("account", "")),
        member=address.number_or_none(query.get("member", "")),
        job=address.uuid_or_none(query.get("job", "")),
        feature=address.text(query, "feature")[:60],
        label=address.text(query, "label")[:200],
        direction=address.known(query.get("direction", ""), DIRECTIONS),
        source=address.known(query.get("source", ""), SOURCES),
        match=address.known(query.get("match", ""), MATCHES),
        sort=address.known(query.get("sort", ""), SORTS),
        by=address.known(query.get("by", ""), STACKS),
        after=place_or_none(query.get("after", "")),
    )


def place_or_none(text: str) -> Place | None:
    try:
        seconds, fraction, account, position = text.split(".")
        place = Place(address.moment(seconds, fraction), UUID(account), int(position))
    except (ValueError, OverflowError, OSError):
        return None
    # The first and the last year have moments that other zones have no calendar for.
    return place if MINYEAR < place.at.year < MAXYEAR else None
