"""What the team owns, counted by search: for the head of the page, the filters and the networks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Max

from dashboard.ideas.queries.filters import team_ideas
from dashboard.ideas.queries.networks import network_label, offered_networks
from dashboard.models import Membership
from dashboard.shared.people import TeamPerson


class IdeaCount(NamedTuple):
    keyword: str
    network: str
    member_id: int | None
    member: str
    ideas: int


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
    def note(self) -> str:
        """Return the sentence below the page's heading."""
        if not self.total:
            return "The team owns no ideas yet."
        keywords, plural = len(self.keywords), "" if self.total == 1 else "s"
        of = "one keyword" if keywords == 1 else f"{keywords:,} keywords"
        return f"The team owns {self.total:,} idea{plural} for {of}."


def load_idea_overview(reader: Membership) -> IdeaOverview:
    """One query, with a row for each search."""
    person = "charge__member"
    names = ("keyword", "network", person, f"{person}__name", f"{person}__email")
    groups = team_ideas(reader).order_by().values_list(*names)
    rows = groups.annotate(count=Count("pk"), last=Max("found_at")).order_by("-last")
    return IdeaOverview(
        tuple(
            IdeaCount(
                keyword,
                network,
                member_id,
                TeamPerson(member_id, name.strip() or email).first_name if member_id else "",
                count,
            )
            for keyword, network, member_id, name, email, count, _ in rows
        )
    )
