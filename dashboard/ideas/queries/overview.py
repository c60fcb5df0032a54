"""What the team owns, counted by search: for the head of the page, the filters and the networks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max

from dashboard.ideas.queries.filters import team_ideas
from dashboard.ideas.queries.networks import network_label, offered_networks
from dashboard.models import Membership
from dashboard.shared.formatting import clock
from dashboard.shared.people import TeamPerson


@dataclass(frozen=True, slots=True)
class ListReading:
    """When the service's list was last read to its end, and why a newer reading failed."""

    read_at: datetime | None
    is_pending: bool
    error: str

    @property
    def sentence(self) -> str:
        if self.is_pending and not self.error:
            return "The service’s list is being read."
        if self.read_at is None:
            return self.error or "The service’s list was not read yet."
        read = f"Read from the service {clock(self.read_at)}."
        return f"{self.error} {read}" if self.error else read


class IdeaCount(NamedTuple):
    keyword: str
    network: str
    member_id: int | None
    member: str
    ideas: int
    reading: ListReading


@dataclass(frozen=True, slots=True)
class IdeaOverview:
    """The ideas of a team by keyword, network and who found them; the keyword used last first."""

    counts: tuple[IdeaCount, ...]

    @property
    def total(self) -> int:
        return sum(row.ideas for row in self.counts)

    @property
    def keywords(self) -> dict[str, str]:
        return {row.keyword: row.keyword for row in self.counts if row.keyword}

    @property
    def networks(self) -> dict[str, str]:
        return {row.network: network_label(row.network) for row in self.counts if row.network}

    @property
    def members(self) -> dict[str, str]:
        return {str(row.member_id): row.member for row in self.counts if row.member_id}

    @property
    def offered_networks(self) -> dict[str, str]:
        return offered_networks(self.networks)

    @property
    def reading(self) -> ListReading:
        """Return the reading of the account that was read longest ago, or never."""
        readings = {row.reading for row in self.counts}
        times = [reading.read_at for reading in readings]
        return ListReading(
            read_at=min(time for time in times if time) if times and all(times) else None,
            is_pending=any(reading.is_pending for reading in readings),
            error=next((reading.error for reading in readings if reading.error), ""),
        )

    @property
    def note(self) -> str:
        """Return the sentence below the page's heading."""
        if not self.total:
            return "The team owns no ideas yet."
        keywords, plural = len(self.keywords), "" if self.total == 1 else "s"
        of = "one keyword" if keywords == 1 else f"{keywords:,} keywords"
        return f"The team owns {self.total:,} idea{plural} for {of}."


def load_idea_overview(reader: Membership) -> IdeaOverview:
    """One query, with a row for each search."""
    person, refresh = "charge__member", "account__idea_refresh"
    names = ("keyword", "network", person, f"{person}__name", f"{person}__email")
    times = (f"{refresh}__read_at", f"{refresh}__requested_at", f"{refresh}__error")
    groups = team_ideas(reader).order_by().values_list(*names, *times)
    rows = groups.annotate(count=Count("pk"), last=Max("found_at")).order_by("-last")
    return IdeaOverview(tuple(build_idea_count(*row) for row in rows))


def build_idea_count(
    keyword: str,
    network: str,
    member_id: int | None,
    name: str | None,
    email: str | None,
    read_at: datetime | None,
    requested_at: datetime | None,
    error: str | None,
    count: int,
    _last: datetime,
) -> IdeaCount:
    person = TeamPerson(member_id or 0, (name or "").strip() or email or " ")
    return IdeaCount(
        keyword,
        network,
        member_id,
        person.first_name if member_id else "",
        count,
        ListReading(read_at, requested_at is not None, error or ""),
    )
