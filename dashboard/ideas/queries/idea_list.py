"""The list of owned ideas: filtered rows, and what was made of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.ideas.queries.filters import (
    SORT_LABELS,
    USED_LABELS,
    IdeaFilters,
    filter_ideas,
)
from dashboard.ideas.queries.networks import network_label
from dashboard.ideas.queries.overview import IdeaOverview, ListReading
from dashboard.models import DraftOrigin, Membership, User
from dashboard.shared.access import has_permission
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
)
from dashboard.shared.formatting import clock, day
from dashboard.shared.roles import Permission
from proxyapi.models import Idea, Job, JobState

IDEA_PAGE_SIZE = 25
SORTED_COLUMNS = {"title": "title", "volume": "", "rank": "rank", "found": "found"}


@dataclass(frozen=True, slots=True)
class IdeaUse:
    """What was made of an idea last."""

    text: str  # "Video made by Luca on 4 Nov"
    label: str  # of the link
    url: str


@dataclass(frozen=True, slots=True)
class IdeaRow:
    """`volume_percent` is of the highest volume on the page."""

    id: UUID
    title: str
    volume: int | None
    volume_percent: float
    rank: int | None
    network: str
    keyword: str
    is_new: bool
    found: str
    finder: str
    finder_initials: str
    use: IdeaUse | None

    @property
    def volume_text(self) -> str:
        return "" if self.volume is None else f"{self.volume:,}"

    @property
    def phone_line(self) -> str:
        """Return keyword and rank, which stand behind the network on phones."""
        rank = f"rank {self.rank}" if self.rank else ""
        return "".join(f", {part}" for part in (self.keyword, rank) if part)


@dataclass(frozen=True, slots=True)
class SortLink:
    """A heading that sorts. `direction` is the value of `aria-sort`, or empty."""

    url: str
    direction: str


@dataclass(frozen=True, slots=True)
class IdeaList:
    rows: tuple[IdeaRow, ...]
    filters: IdeaFilters
    first: int  # the place of the first row that the reader sees
    total: int
    owned: int
    chips: tuple[FilterChip, ...]
    sort: FilterChip
    sheet: FilterSheet
    columns: Mapping[str, SortLink]
    reading: ListReading
    next_url: str
    first_url: str
    may_make: bool
    may_refresh: bool

    @property
    def url(self) -> str:
        return self.filters.url(offset=self.filters.offset)

    @property
    def count_text(self) -> str:
        """Return a text such as `1–25 of 412 ideas`."""
        last, plural = (self.filters.offset or 0) + len(self.rows), "" if self.total == 1 else "s"
        return f"{self.first:,}–{last:,} of {self.total:,} idea{plural}"


def load_idea_list(
    reader: Membership, filters: IdeaFilters, overview: IdeaOverview, *, is_appended: bool = False
) -> IdeaList:
    """Two queries; one more if the list is narrowed. `is_appended`: the reader sees the earlier
    pages above."""
    start = filters.offset or 0
    found = filter_ideas(reader, filters)
    related = found.select_related("charge__member").only(
        "title", "volume", "rank", "network", "keyword", "found_at", "first_seen_at",
        "charge__member__name", "charge__member__email",
    )  # fmt: skip
    ideas = list(related[start : start + IDEA_PAGE_SIZE])
    total = found.count() if filters.is_narrowed else overview.total
    chips = build_idea_chips(filters, overview)
    sort = build_filter_chip("sort", "", SORT_LABELS, filters)
    return IdeaList(
        rows=build_idea_rows(reader, ideas),
        filters=filters,
        first=1 if is_appended else start + 1,
        total=total,
        owned=overview.total,
        chips=chips,
        sort=sort,
        sheet=build_filter_sheet(IdeaFilters().url(), (*chips, sort), filters),
        columns={name: build_sort_link(filters, sort) for name, sort in SORTED_COLUMNS.items()},
        reading=overview.reading,
        next_url=filters.url(offset=start + IDEA_PAGE_SIZE)
        if total > start + IDEA_PAGE_SIZE
        else "",
        first_url=filters.url() if start and not is_appended else "",
        may_make=has_permission(reader, Permission.RENDER),
        may_refresh=has_permission(reader, Permission.RECHECK),
    )


def build_idea_rows(reader: Membership, ideas: list[Idea]) -> tuple[IdeaRow, ...]:
    """One query."""
    uses = load_uses(ideas)
    seen_at = reader.ideas_seen_at or reader.joined_at
    highest = max((idea.volume or 0 for idea in ideas), default=0) or 1
    return tuple(build_idea_row(idea, seen_at, highest, uses.get(idea.pk)) for idea in ideas)


def build_idea_row(idea: Idea, seen_at: datetime, highest: int, use: IdeaUse | None) -> IdeaRow:
    finder: User | None = idea.charge.member if idea.charge else None
    today = timezone.localdate(idea.found_at) == timezone.localdate()
    return IdeaRow(
        id=idea.pk,
        title=idea.title,
        volume=idea.volume,
        volume_percent=100 * (idea.volume or 0) / highest,
        rank=idea.rank,
        network=network_label(idea.network),
        keyword=idea.keyword,
        is_new=idea.first_seen_at > seen_at,
        found=f"Today, {clock(idea.found_at)}" if today else day(idea.found_at),
        finder=str(finder) if finder else "",
        finder_initials=finder.initials if finder else "",
        use=use,
    )


def load_uses(ideas: Iterable[Idea]) -> dict[UUID, IdeaUse]:
    """Return what was made last of each of these ideas, as far as it is not hidden."""
    origins = DraftOrigin.objects.filter(idea__in=ideas, job__hidden_at=None)
    origins = origins.select_related("job__member").order_by("job__created_at")
    return {origin.idea_id: build_use(origin.job) for origin in origins if origin.idea_id}


def build_use(job: Job) -> IdeaUse:
    by = f"by {job.member.first_name}"
    if job.state == JobState.DRAFT:
        url = reverse("studio-draft", args=[job.pk])
        return IdeaUse(f"Draft started {by}{on_day(job.created_at)}", "Open the draft", url)
    made = {JobState.COMPLETED: "Video made", JobState.FAILED: "Render failed, started"}
    text = made.get(JobState(job.state), "Render started")
    at = job.finished_at or job.started_at or job.created_at
    return IdeaUse(f"{text} {by}{on_day(at)}", "Open the video", reverse("video", args=[job.pk]))


def on_day(at: datetime) -> str:
    text = day(at)
    return f" {text}" if text == "today" else f" on {text}"


def build_idea_chips(filters: IdeaFilters, overview: IdeaOverview) -> tuple[FilterChip, ...]:
    return (
        build_filter_chip("keyword", "Keyword", {"": "any", **overview.keywords}, filters),
        build_filter_chip("network", "Network", {"": "any", **overview.networks}, filters),
        build_filter_chip("member", "Found by", {"": "anyone", **overview.members}, filters),
        build_filter_chip("used", "Used", USED_LABELS, filters),
    )


def build_sort_link(filters: IdeaFilters, sort: str) -> SortLink:
    falling = sort in ("", "found")
    direction = ("descending" if falling else "ascending") if filters.sort == sort else ""
    return SortLink(filters.url(sort=sort), direction)
