"""The list of owned ideas: filtered rows, and what was made of each."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.ideas.queries.filters import IdeaFilters, filter_ideas
from dashboard.ideas.queries.networks import network_label
from dashboard.ideas.queries.overview import IdeaOverview
from dashboard.models import DraftOrigin, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import day
from dashboard.shared.lists import slice_list
from dashboard.shared.roles import Permission
from proxyapi.models import Idea, Job, JobState

IDEA_PAGE_SIZE = 25
SORTED_COLUMNS = {"title": "title", "volume": "", "rank": "rank", "found": "found"}


def load_idea_list(
    reader: Membership, filters: IdeaFilters, overview: IdeaOverview, *, is_appended: bool = False
) -> dict[str, Any]:
    """Two queries; one more if the list is narrowed. `is_appended`: the reader sees the earlier
    pages above. `first` and `last` are the places of the rows that the reader sees."""
    found = filter_ideas(reader, filters)
    related = found.select_related("charge__member").only(
        "title", "volume", "rank", "network", "keyword", "found_at", "first_seen_at",
        "charge__member__name", "charge__member__email",
    )  # fmt: skip
    page = slice_list(
        filters,
        related,
        IDEA_PAGE_SIZE,
        total=found.count() if filters.is_narrowed else overview.total,
        keyword=overview.keywords,
        network=overview.networks,
        member=overview.members,
    )
    start = filters.offset or 0
    return {
        "list": page,
        "ideas": build_idea_rows(reader, page.rows),
        "first": 1 if is_appended else start + 1,
        "last": start + len(page.rows),
        "owned": overview.total,
        "columns": {name: sort_link(filters, sort) for name, sort in SORTED_COLUMNS.items()},
        "reading": overview.reading,
        "may_make": has_permission(reader, Permission.RENDER),
        "may_refresh": has_permission(reader, Permission.RECHECK),
    }


def build_idea_rows(reader: Membership, ideas: list[Idea]) -> list[dict[str, Any]]:
    """One query. `volume_percent` is of the highest volume on the page."""
    uses, today = load_uses(ideas), timezone.localdate()
    seen_at = reader.ideas_seen_at or reader.joined_at
    highest = max((idea.volume or 0 for idea in ideas), default=0) or 1
    return [
        {
            "idea": idea,
            "volume_percent": 100 * (idea.volume or 0) / highest,
            "network": network_label(idea.network),
            "is_new": idea.first_seen_at > seen_at,
            "is_today": timezone.localdate(idea.found_at) == today,
            "finder": idea.charge.member if idea.charge else None,
            "use": uses.get(idea.pk),
        }
        for idea in ideas
    ]


def load_uses(ideas: Iterable[Idea]) -> dict[UUID, dict[str, str]]:
    """Return what was made last of each of these ideas, as far as it is not hidden."""
    origins = DraftOrigin.objects.filter(idea__in=ideas, job__hidden_at=None)
    origins = origins.select_related("job__member").order_by("job__created_at")
    return {origin.idea_id: build_use(origin.job) for origin in origins if origin.idea_id}


def build_use(job: Job) -> dict[str, str]:
    """What was made of an idea last, such as "Video made by Luca on 4 Nov"."""
    by = f"by {job.member.first_name}"
    if job.state == JobState.DRAFT:
        url = reverse("studio-draft", args=[job.pk])
        text = f"Draft started {by}{on_day(job.created_at)}"
        return {"text": text, "label": "Open the draft", "url": url}
    made = {JobState.COMPLETED: "Video made", JobState.FAILED: "Render failed, started"}
    text = made.get(JobState(job.state), "Render started")
    at = job.finished_at or job.started_at or job.created_at
    url = reverse("video", args=[job.pk])
    return {"text": f"{text} {by}{on_day(at)}", "label": "Open the video", "url": url}


def on_day(at: datetime) -> str:
    text = day(at)
    return f" {text}" if text == "today" else f" on {text}"


def sort_link(filters: IdeaFilters, sort: str) -> dict[str, str]:
    """A heading that sorts. `direction` is the value of `aria-sort`, or empty."""
    falling = sort in ("", "found")
    direction = ("descending" if falling else "ascending") if filters.sort == sort else ""
    return {"url": filters.url(sort=sort), "direction": direction}
