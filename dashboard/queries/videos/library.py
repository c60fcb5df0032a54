"""The library: tabs with counts, filters that live in the URL, groups by when, pages by key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from dashboard.models import Membership
from dashboard.queries.chips import Chip, Sheet, chip, sheet
from dashboard.queries.ledger.people import people_of
from dashboard.queries.videos.acts import Button
from dashboard.queries.videos.cards import Card, card_of, rows, tell
from dashboard.queries.videos.filters import FORMATS, HIDDEN, MOVING, SHELVES, SORTS, Filters, Place
from dashboard.queries.videos.pages import acts_from
from dashboard.queries.videos.usual import usuals
from proxyapi.models import Charge, ChargeState, Job, JobState

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class Shelf(TypedDict):
        """What `shelve` adds to a job."""

        shelf: str
        rank: int

    Shelved = WithAnnotations[Job, Shelf]

PAGE = 48


@dataclass(frozen=True, slots=True)
class Tab:
    label: str
    glyph: str
    count: int
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Seat:
    """A card with the acts of this reader."""

    card: Card
    acts: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Library:
    filters: Filters
    url: str
    tabs: tuple[Tab, ...]
    chips: tuple[Chip, ...]
    sort: Chip
    sheet: Sheet
    groups: tuple[Group, ...]
    older_url: str
    newest_url: str
    clear_url: str
    bare: bool  # the team has no video at all


def library_of(reader: Membership, filters: Filters) -> Library:
    """Five queries, whatever the number of videos."""
    vault_id = reader.team.vault_id
    shelved = shelve(narrowed(Job.objects.filter(vault_id=vault_id), filters))
    counts = dict(shelved.order_by().values_list("shelf").annotate(count=Count("pk")))
    page = list(rows(page_of(shelved, filters))[: PAGE + 1])
    usual, now = usuals(vault_id), timezone.now()
    seats = []
    for job in page[:PAGE]:
        told = tell(job, usual, now)
        seats.append(Seat(card_of(told, usual), acts_from(told, reader, head=False)))
    more = len(page) > PAGE
    chips = (member_chip(reader, filters), chip("format", "Format", FORMATS, filters))
    sort = chip("sort", "", SORTS, filters)
    return Library(
        filters=filters,
        url=filters.url(before=filters.before),
        tabs=tabs_of(counts, filters),
        chips=chips,
        sort=sort,
        sheet=sheet(Filters().url(), [*chips, sort], filters),
        groups=grouped(seats, now),
        older_url=filters.url(before=ended_at(page[PAGE - 1])) if more else "",
        newest_url=filters.url() if filters.before else "",
        clear_url=Filters().url(),
        bare=not (seats or filters.narrow or filters.hidden or in_all(counts)),
    )


def narrowed(jobs: QuerySet[Job], filters: Filters) -> QuerySet[Job]:
    if filters.search:
        text = filters.search
        jobs = jobs.filter(Q(title__icontains=text) | Q(wanted__script__icontains=text))
    if filters.member:
        jobs = jobs.filter(member_id=filters.member)
    return jobs.filter(wanted__aspect_ratio=filters.format) if filters.format else jobs


def shelve(jobs: QuerySet[Job]) -> QuerySet[Shelved]:
    """Put each job on its shelf: the states of `states.py`, as far as SQL can tell them."""

    def charging(*states: ChargeState) -> Exists:
        return Exists(Charge.objects.filter(job=OuterRef("pk"), state__in=states))

    shelf = Case(
        When(hidden_at__isnull=False, then=Value(HIDDEN)),
        When(charging(ChargeState.UNKNOWN), then=Value("unknown")),
        When(charging(ChargeState.SENDING), then=Value("rendering")),
        When(charging(ChargeState.HELD, ChargeState.DRAFT), then=Value("waiting")),
        When(state=JobState.RUNNING, then=Value("rendering")),
        When(state=JobState.COMPLETED, then=Value("completed")),
        When(state=JobState.FAILED, then=Value("failed")),
        default=Value("drafts"),
    )
    shelved = jobs.annotate(shelf=shelf)
    return shelved.annotate(rank=Case(When(shelf__in=MOVING, then=Value(0)), default=Value(1)))


def page_of(shelved: QuerySet[Shelved], filters: Filters) -> QuerySet[Shelved]:
    """What moves comes first, then the newest; `before` goes on after the row it names."""
    shelved = shelved.filter(hidden_at__isnull=not filters.hidden)
    jobs = shelved.filter(shelf=filters.state) if filters.state else shelved
    oldest = filters.sort == "oldest"
    if filters.before:
        jobs = jobs.filter(after(*filters.before, oldest=oldest))
    when = ("created_at", "pk") if oldest else ("-created_at", "-pk")
    return jobs.order_by("rank", *when)


def ended_at(job: Shelved) -> Place:
    return Place(job.rank, job.created_at, job.pk)


def after(rank: int, created_at: datetime, pk: UUID, *, oldest: bool) -> Q:
    past = "gt" if oldest else "lt"
    same = Q(created_at=created_at) & Q(**{f"pk__{past}": pk})
    return Q(rank__gt=rank) | Q(rank=rank) & (Q(**{f"created_at__{past}": created_at}) | same)


def tabs_of(counts: Mapping[str, int], filters: Filters) -> tuple[Tab, ...]:
    """A count of nothing keeps its tab: what is missing is said, not hidden."""
    everything = in_all(counts)
    return tuple(
        Tab(
            label,
            glyph,
            counts.get(slug, 0) if slug else everything,
            filters.url(state=slug),
            slug == filters.state,
        )
        for slug, (label, glyph) in SHELVES.items()
    )


def in_all(counts: Mapping[str, int]) -> int:
    """How many videos there are, but for the hidden ones."""
    return sum(counts.values()) - counts.get(HIDDEN, 0)


def member_chip(reader: Membership, filters: Filters) -> Chip:
    people = {"": "everyone"}
    people |= {str(person.id): person.first_name for person in people_of(reader.team)}
    return chip("member", "Member", people, filters)


def grouped(seats: Iterable[Seat], now: datetime) -> tuple[Group, ...]:
    """What moves, then by the day it was made; the order of the seats is kept."""
    groups: dict[str, list[Seat]] = {}
    for seat in seats:
        groups.setdefault(group_of(seat.card, now), []).append(seat)
    return tuple(Group(title, tuple(members)) for title, members in groups.items())


def group_of(card: Card, now: datetime) -> str:
    if card.state.moving:
        return "Moving now"
    today = timezone.localtime(now).date()
    made = timezone.localtime(card.created_at).date()
    if made >= today:
        return "Today"
    monday = today - timedelta(days=today.weekday())
    return "Earlier this week" if made >= monday else "Earlier"
