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
    choice_field,
    number_field,
    offset_field,
    search_field,
    text_field,
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
    ID: ClassVar[str] = "ideas"

    search: str = search_field()
    keyword: str = text_field(MAX_KEYWORD_CHARS, "Keyword", lookup="keyword__iexact")
    network: str = text_field(MAX_NETWORK_CHARS, "Network", lookup="network__iexact")
    member: int | None = number_field("Found by", lookup="charge__member", unset="anyone")
    used: str = choice_field(USED_LABELS, "Used")
    sort: str = choice_field(SORT_LABELS, narrows=False)
    offset: int | None = offset_field()


def team_ideas(reader: Membership) -> QuerySet[Idea]:
    return Idea.objects.filter(account__tenant=reader.team.tenant_id)


def filter_ideas(reader: Membership, filters: IdeaFilters) -> QuerySet[Idea]:
    ideas = filters.narrow(team_ideas(reader))
    for word in filters.search.split():
        ideas = ideas.filter(title__icontains=word)
    if filters.used:
        is_used = Exists(DraftOrigin.objects.filter(idea=OuterRef("pk"), job__hidden_at=None))
        ideas = ideas.filter(is_used if filters.used == "yes" else ~is_used)
    return ideas.order_by(*ORDERINGS[filters.sort], "pk")
