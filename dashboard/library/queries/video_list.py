"""The library: tabs with counts, filters in the URL, groups by recency, keyset pagination."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from dashboard.library.queries.filters import LIBRARY_TABS, LibraryFilters
from dashboard.library.queries.video_page import actions_for_reader
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.action_buttons import ActionButton
from dashboard.shared.lists import ListTab, load_list
from dashboard.shared.people import load_label_names, load_team_people
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import (
    VideoCard,
    build_video_card,
    build_video_context,
    with_shared_relations,
)
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from dashboard.shared.videos.state_tabs import HIDDEN_TAB, annotate_tabs
from proxyapi.models import Job, JobKind
from proxyapi.polling.duration_history import DurationHistory

if TYPE_CHECKING:
    from dashboard.shared.videos.state_tabs import JobWithTab

LIBRARY_PAGE_SIZE = 48
CardWithActions = tuple[VideoCard, tuple[ActionButton, ...]]  # the buttons are the reader's


def load_library_page(reader: Membership, filters: LibraryFilters) -> dict[str, Any]:
    """Six queries, for any number of videos."""
    tenant_id, may_change = reader.team.tenant_id, has_permission(reader, Permission.RENDER)
    selects_all, filters = filters.select == "all", replace(filters, select=filters.select and "on")
    team_jobs = Job.objects.videos().filter(tenant_id=tenant_id)
    jobs = annotate_tabs(apply_library_filters(team_jobs, filters), tenant_id)
    counts = dict(jobs.order_by().values_list("shelf").annotate(count=Count("pk")))
    total = visible_video_count(counts)
    people, labels = load_team_people(reader.team), load_label_names(reader.team)
    if filters.label:
        labels.setdefault(str(filters.label), "deleted")
    page = load_list(
        filters,
        select_library_jobs(jobs, filters),
        LIBRARY_PAGE_SIZE,
        load=load_library_jobs,
        total=counts.get(filters.state, 0) if filters.state else total,
        label=labels or None,
        member={str(person.id): person.first_name for person in people},
    )
    is_empty = not (page.rows or filters.is_narrowed or filters.shows_hidden or total)
    usual, now = DurationHistory(tenant_id=tenant_id), timezone.now()
    contexts = [build_video_context(job, usual, now) for job in page.rows]
    cards = [
        (build_video_card(context, usual), actions_for_reader(context, reader, head=False))
        for context in contexts
    ]
    return {
        "list": page,
        "tabs": build_library_tabs(counts, filters),
        "groups": group_by_recency(cards, now),
        "is_empty": is_empty,  # the team has no video that is not hidden
        "hidden_url": filters.url(state=HIDDEN_TAB) if is_empty and counts.get(HIDDEN_TAB) else "",
        "may_change": may_change,
        "is_selecting": may_change and bool(filters.select),
        "selects_all": selects_all,
        **selection_urls(filters),
    }


def selection_urls(filters: LibraryFilters) -> dict[str, str]:
    """Return the URLs of this page with checkboxes, with all of them checked, and without."""
    selects = {"select_url": "on", "select_all_url": "all", "end_selection_url": ""}
    return {
        name: filters.url(before=filters.before, select=value) for name, value in selects.items()
    }


def apply_library_filters(jobs: QuerySet[Job], filters: LibraryFilters) -> QuerySet[Job]:
    if filters.search:
        text = filters.search
        jobs = jobs.filter(Q(title__icontains=text) | Q(draft__settings__script__icontains=text))
    if filters.type:
        jobs = jobs.filter(type_q(filters.type))
    return filters.narrow(jobs)


def type_q(slug: str) -> Q:
    """Return the condition for a slug of `TYPE_LABELS`, which matches `job_type_label`."""
    if slug in FACELESS_TYPE_LABELS:
        return Q(kind=JobKind.FACELESS, draft__settings__type=slug)
    if slug != JobKind.FACELESS:
        return Q(kind=slug)
    return Q(kind=slug) & ~Q(draft__settings__type__in=list(FACELESS_TYPE_LABELS))


def select_library_jobs(
    annotated: QuerySet[JobWithTab], filters: LibraryFilters
) -> QuerySet[JobWithTab]:
    """Return jobs in progress first, then by creation time."""
    annotated = annotated.filter(hidden_at__isnull=not filters.shows_hidden)
    jobs = annotated.filter(shelf=filters.state) if filters.state else annotated
    when = ("created_at", "pk") if filters.sort == "oldest" else ("-created_at", "-pk")
    return jobs.order_by("rank", *when)


def load_library_jobs(page: QuerySet[JobWithTab]) -> list[JobWithTab]:
    """Return the jobs of a page with all that a card reads. The page is found first and by itself:
    its SQL takes long to build, and would be part of that of the relations."""
    rank_of: dict[UUID, int] = dict(page.values_list("pk", "rank"))
    jobs = {job.pk: job for job in with_shared_relations(Job.objects.filter(pk__in=rank_of))}
    for pk, job in jobs.items():
        job.rank = rank_of[pk]  # type: ignore[attr-defined]
    return [jobs[pk] for pk in rank_of]  # type: ignore[misc]


def build_library_tabs(counts: Mapping[str, int], filters: LibraryFilters) -> list[ListTab]:
    """Tabs with a count of 0 are shown too."""
    totals = {**counts, "": visible_video_count(counts)}
    return [
        ListTab(label, glyph, totals.get(slug, 0), filters.url(state=slug), slug == filters.state)
        for slug, (label, glyph) in LIBRARY_TABS.items()
    ]


def visible_video_count(counts: Mapping[str, int]) -> int:
    """Return the number of videos that are not hidden."""
    return sum(counts.values()) - counts.get(HIDDEN_TAB, 0)


def group_by_recency(
    cards: Iterable[CardWithActions], now: datetime
) -> list[tuple[str, list[CardWithActions]]]:
    """Group cards in progress, then by the day of creation; the order is kept."""
    groups: dict[str, list[CardWithActions]] = {}
    for card, actions in cards:
        groups.setdefault(recency_title(card, now), []).append((card, actions))
    return list(groups.items())


def recency_title(card: VideoCard, now: datetime) -> str:
    if card.state.is_active:
        return "In progress"
    today = timezone.localtime(now).date()
    made = timezone.localtime(card.created_at).date()
    if made >= today:
        return "Today"
    monday = today - timedelta(days=today.weekday())
    return "Earlier this week" if made >= monday else "Earlier"
