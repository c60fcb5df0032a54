"""The library: tabs with counts, filters in the URL, groups by recency, keyset pagination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from django.db.models import Case, Count, Q, QuerySet, Value, When
from django.utils import timezone

from dashboard.library.queries.filters import (
    ACTIVE_TABS,
    FORMAT_LABELS,
    HIDDEN_TAB,
    LIBRARY_TABS,
    SORT_LABELS,
    TYPE_LABELS,
    LibraryCursor,
    LibraryFilters,
)
from dashboard.library.queries.video_page import actions_for_reader
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.action_buttons import ActionButton
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
)
from dashboard.shared.people import load_people_and_labels
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_card_relations,
)
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState
from proxyapi.operations import SIDE_OPERATIONS
from proxyapi.polling.duration_history import DurationHistory

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class TabAnnotations(TypedDict):
        """The columns that `annotate_tabs` adds to a job."""

        shelf: str
        rank: int

    JobWithTab = WithAnnotations[Job, TabAnnotations]

LIBRARY_PAGE_SIZE = 48


@dataclass(frozen=True, slots=True)
class LibraryTab:
    label: str
    glyph: str
    count: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class CardWithActions:
    """A card with the buttons for this reader."""

    card: VideoCard
    actions: tuple[ActionButton, ...]


@dataclass(frozen=True, slots=True)
class VideoCardGroup:
    title: str
    cards: tuple[CardWithActions, ...]


@dataclass(frozen=True, slots=True)
class LibraryPage:
    filters: LibraryFilters
    url: str
    tabs: tuple[LibraryTab, ...]
    chips: tuple[FilterChip, ...]
    sort: FilterChip
    sheet: FilterSheet
    groups: tuple[VideoCardGroup, ...]
    older_url: str
    newest_url: str
    clear_url: str
    is_empty: bool  # the team has no video that is not hidden
    hidden_url: str  # the list of hidden videos, if all videos are hidden
    may_change: bool

    @property
    def is_selecting(self) -> bool:
        """True if the cards have checkboxes."""
        return self.may_change and bool(self.filters.select)

    @property
    def card_count(self) -> int:
        return sum(len(group.cards) for group in self.groups)

    @property
    def select_url(self) -> str:
        return self.filters.url(before=self.filters.before, select="on")

    @property
    def select_all_url(self) -> str:
        return self.filters.url(before=self.filters.before, select="all")

    @property
    def end_selection_url(self) -> str:
        return self.filters.url(before=self.filters.before, select="")


def load_library_page(reader: Membership, filters: LibraryFilters) -> LibraryPage:
    """Five queries, for any number of videos."""
    tenant_id = reader.team.tenant_id
    team_jobs = Job.objects.videos().filter(tenant_id=tenant_id)
    jobs = annotate_tabs(apply_library_filters(team_jobs, filters), tenant_id)
    counts = dict(jobs.order_by().values_list("shelf").annotate(count=Count("pk")))
    page = load_library_jobs(jobs, filters)
    usual, now = DurationHistory(tenant_id=tenant_id), timezone.now()
    cards = []
    for job in page[:LIBRARY_PAGE_SIZE]:
        context = build_video_context(job, usual, now)
        cards.append(
            CardWithActions(
                build_video_card(context, usual), actions_for_reader(context, reader, head=False)
            )
        )
    has_more = len(page) > LIBRARY_PAGE_SIZE
    chips = (
        build_filter_chip("type", "Type", TYPE_LABELS, filters),
        *label_and_member_chips(reader, filters),
        build_filter_chip("format", "Format", FORMAT_LABELS, filters),
    )
    sort = build_filter_chip("sort", "", SORT_LABELS, filters)
    is_empty = not (
        cards or filters.is_narrowed or filters.shows_hidden or visible_video_count(counts)
    )
    return LibraryPage(
        filters=filters,
        url=filters.url(before=filters.before),
        tabs=build_library_tabs(counts, filters),
        chips=chips,
        sort=sort,
        sheet=build_filter_sheet(LibraryFilters().url(), [*chips, sort], filters),
        groups=group_by_recency(cards, now),
        older_url=filters.url(before=cursor_for_job(page[LIBRARY_PAGE_SIZE - 1]))
        if has_more
        else "",
        newest_url=filters.url() if filters.before else "",
        clear_url=LibraryFilters().url(),
        is_empty=is_empty,
        hidden_url=filters.url(state=HIDDEN_TAB) if is_empty and counts.get(HIDDEN_TAB) else "",
        may_change=has_permission(reader, Permission.RENDER),
    )


def apply_library_filters(jobs: QuerySet[Job], filters: LibraryFilters) -> QuerySet[Job]:
    if filters.search:
        text = filters.search
        jobs = jobs.filter(Q(title__icontains=text) | Q(draft__settings__script__icontains=text))
    if filters.type:
        jobs = jobs.filter(type_q(filters.type))
    if filters.label:
        jobs = jobs.filter(labels=filters.label)
    if filters.member:
        jobs = jobs.filter(member_id=filters.member)
    if filters.format:
        jobs = jobs.filter(draft__settings__aspect_ratio=filters.format)
    return jobs


def type_q(slug: str) -> Q:
    """Return the condition for a slug of `TYPE_LABELS`, which matches `job_type_label`."""
    if slug in FACELESS_TYPE_LABELS:
        return Q(kind=JobKind.FACELESS, draft__settings__type=slug)
    if slug != JobKind.FACELESS:
        return Q(kind=slug)
    return Q(kind=slug) & ~Q(draft__settings__type__in=list(FACELESS_TYPE_LABELS))


def annotate_tabs(jobs: QuerySet[Job], tenant_id: UUID) -> QuerySet[JobWithTab]:
    """Annotate each job of the tenant with its tab: the states of `display_state`, as far as SQL
    can compute them."""

    def charging(state: ChargeState) -> Q:
        # Not correlated, and one state each: few charges are open, and SQLite finds those of a
        # state by an index, once, instead of the charges of each job.
        charges = Charge.objects.filter(tenant=tenant_id, state=state, job__isnull=False)
        return Q(pk__in=charges.exclude(operation__in=SIDE_OPERATIONS).values("job"))

    tab = Case(
        When(hidden_at__isnull=False, then=Value(HIDDEN_TAB)),
        When(charging(ChargeState.UNKNOWN), then=Value("unknown")),
        When(charging(ChargeState.SENDING), then=Value("rendering")),
        When(charging(ChargeState.HELD) | charging(ChargeState.DRAFT), then=Value("waiting")),
        When(state=JobState.RUNNING, then=Value("rendering")),
        When(state=JobState.COMPLETED, then=Value("completed")),
        When(state=JobState.FAILED, then=Value("failed")),
        default=Value("drafts"),
    )
    annotated = jobs.annotate(shelf=tab)
    return annotated.annotate(
        rank=Case(When(shelf__in=ACTIVE_TABS, then=Value(0)), default=Value(1))
    )


def select_library_jobs(
    annotated: QuerySet[JobWithTab], filters: LibraryFilters
) -> QuerySet[JobWithTab]:
    """Return jobs in progress first, then by creation time; start after the cursor `before`."""
    annotated = annotated.filter(hidden_at__isnull=not filters.shows_hidden)
    jobs = annotated.filter(shelf=filters.state) if filters.state else annotated
    oldest = filters.sort == "oldest"
    if filters.before:
        jobs = jobs.filter(after_cursor_q(*filters.before, oldest=oldest))
    when = ("created_at", "pk") if oldest else ("-created_at", "-pk")
    return jobs.order_by("rank", *when)


def load_library_jobs(annotated: QuerySet[JobWithTab], filters: LibraryFilters) -> list[JobWithTab]:
    """Return the jobs of a page, and one more if there is, with all that a card reads. All jobs are
    ordered by ids alone, so the relations are joined to those of the page only."""
    selected = select_library_jobs(annotated, filters)
    ids = selected.values("pk")[: LIBRARY_PAGE_SIZE + 1]
    ordering = selected.query.order_by
    return list(with_card_relations(annotated.filter(pk__in=ids)).order_by(*ordering))


def cursor_for_job(job: JobWithTab) -> LibraryCursor:
    return LibraryCursor(job.rank, job.created_at, job.pk)


def after_cursor_q(rank: int, created_at: datetime, pk: UUID, *, oldest: bool) -> Q:
    comparison = "gt" if oldest else "lt"
    same = Q(created_at=created_at) & Q(**{f"pk__{comparison}": pk})
    return Q(rank__gt=rank) | Q(rank=rank) & (Q(**{f"created_at__{comparison}": created_at}) | same)


def build_library_tabs(
    counts: Mapping[str, int], filters: LibraryFilters
) -> tuple[LibraryTab, ...]:
    """Tabs with a count of 0 are shown too."""
    total = visible_video_count(counts)
    return tuple(
        LibraryTab(
            label,
            glyph,
            counts.get(slug, 0) if slug else total,
            filters.url(state=slug),
            slug == filters.state,
        )
        for slug, (label, glyph) in LIBRARY_TABS.items()
    )


def visible_video_count(counts: Mapping[str, int]) -> int:
    """Return the number of videos that are not hidden."""
    return sum(counts.values()) - counts.get(HIDDEN_TAB, 0)


def label_and_member_chips(reader: Membership, filters: LibraryFilters) -> list[FilterChip]:
    """Return the filters by label, if the team has any, and by member; one query."""
    people, label_names = load_people_and_labels(reader)
    if filters.label:
        label_names.setdefault(str(filters.label), "deleted")
    member_names = {"": "everyone"} | {str(person.id): person.first_name for person in people}
    chips = [build_filter_chip("member", "Member", member_names, filters)]
    if label_names:
        chips.insert(0, build_filter_chip("label", "Label", {"": "any", **label_names}, filters))
    return chips


def group_by_recency(cards: Iterable[CardWithActions], now: datetime) -> tuple[VideoCardGroup, ...]:
    """Group cards in progress, then by the day of creation; the order is kept."""
    groups: dict[str, list[CardWithActions]] = {}
    for card in cards:
        groups.setdefault(recency_title(card.card, now), []).append(card)
    return tuple(VideoCardGroup(title, tuple(members)) for title, members in groups.items())


def recency_title(card: VideoCard, now: datetime) -> str:
    if card.state.is_active:
        return "In progress"
    today = timezone.localtime(now).date()
    made = timezone.localtime(card.created_at).date()
    if made >= today:
        return "Today"
    monday = today - timedelta(days=today.weekday())
    return "Earlier this week" if made >= monday else "Earlier"
