"""The filters in the URL of the ideas, and the queryset that they choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.expressions import OrderBy

from dashboard.models import DraftOrigin, Membership
from dashboard.shared.query_params import (
    PageFilters,
    allowed_or_empty,
    clean_text_param,
    parse_search_text,
    parse_small_int,
)
from proxyapi.models import Idea
from proxyapi.models.idea import MAX_KEYWORD_CHARS, MAX_NETWORK_CHARS

USED_LABELS = {"": "any", "no": "not used", "yes": "used"}
SORT_LABELS = {
    "": "Highest volume first",
    "rank": "Best rank first",
    "found": "Found last first",
    "title": "By title",
}
BY_VOLUME, BY_RANK = F("volume").desc(nulls_last=True), F("rank").asc(nulls_last=True)
ORDERINGS: Mapping[str, tuple[OrderBy, ...]] = {
    "": (BY_VOLUME, BY_RANK),
    "rank": (BY_RANK, BY_VOLUME),
    "found": (F("found_at").desc(), BY_RANK),
    "title": (F("title").asc(),),
}


@dataclass(frozen=True, slots=True)
class IdeaFilters(PageFilters):
    """`offset`: how many ideas of the list come before the page."""

    PAGE: ClassVar[str] = "ideas"
    CURSOR: ClassVar[str] = "offset"

    search: str = ""
    keyword: str = ""
    network: str = ""
    member: str = ""
    used: str = ""
    sort: str = ""
    offset: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.keyword or self.network or self.member or self.used)


def parse_idea_filters(query: Mapping[str, str]) -> IdeaFilters:
    """Invalid values are ignored."""
    member = query.get("member", "")
    return IdeaFilters(
        search=parse_search_text(query),
        keyword=clean_text_param(query, "keyword")[:MAX_KEYWORD_CHARS],
        network=clean_text_param(query, "network")[:MAX_NETWORK_CHARS],
        member=member if parse_small_int(member) else "",
        used=allowed_or_empty(query.get("used", ""), USED_LABELS),
        sort=allowed_or_empty(query.get("sort", ""), SORT_LABELS),
        offset=parse_small_int(query.get("offset", "")) or None,
    )


def team_ideas(reader: Membership) -> QuerySet[Idea]:
    return Idea.objects.filter(account__tenant=reader.team.tenant_id)


def filter_ideas(reader: Membership, filters: IdeaFilters) -> QuerySet[Idea]:
    ideas = team_ideas(reader)
    for word in filters.search.split():
        ideas = ideas.filter(title__icontains=word)
    if filters.keyword:
        ideas = ideas.filter(keyword__iexact=filters.keyword)
    if filters.network:
        ideas = ideas.filter(network__iexact=filters.network)
    if filters.member:
        ideas = ideas.filter(charge__member=int(filters.member))
    if filters.used:
        is_used = Exists(DraftOrigin.objects.filter(idea=OuterRef("pk"), job__hidden_at=None))
        ideas = ideas.filter(is_used if filters.used == "yes" else ~is_used)
    return ideas.order_by(*ORDERINGS[filters.sort], "pk")
