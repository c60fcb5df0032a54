"""The team's labels: the page that lists them, and the dialog that sets those of videos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from dashboard.models import Label, Membership
from dashboard.models.label import MAX_LABEL_NAME_CHARS, MAX_LABELS_PER_TEAM
from dashboard.shared.access import has_permission
from dashboard.shared.query_params import build_page_url
from dashboard.shared.roles import Permission
from proxyapi.models import Job


@dataclass(frozen=True, slots=True)
class LabelsPage:
    rows: tuple[dict[str, Any], ...]
    may_change: bool

    @property
    def note(self) -> str:
        if not self.rows:
            return "Labels group the videos of the team."
        return f"{len(self.rows)} of {MAX_LABELS_PER_TEAM} labels."


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """A label in the dialog; `count` of the selected videos have it."""

    id: UUID
    name: str
    count: int
    selected_count: int

    @property
    def is_on_all(self) -> bool:
        return self.count == self.selected_count

    @property
    def is_on_some(self) -> bool:
        return 0 < self.count < self.selected_count


def load_labels_page(reader: Membership) -> LabelsPage:
    """One query."""
    hidden = Count("jobs", filter=Q(jobs__hidden_at__isnull=False))
    labels = reader.team.labels.annotate(video_count=Count("jobs"), hidden_count=hidden)
    rows = (
        {
            "id": label.pk,
            "name": label.name,
            "video_count": label.video_count,
            "hidden_count": label.hidden_count,
            "url": build_page_url("library", {"label": label.pk}),
        }
        for label in labels
    )
    return LabelsPage(tuple(rows), has_permission(reader, Permission.RENDER))


def load_label_dialog(reader: Membership, jobs: Sequence[Job]) -> dict[str, Any]:
    """One query besides the jobs. The labels of the selected videos. `title` is set if there is
    only one."""
    job_ids = tuple(job.pk for job in jobs)
    selected = Count("jobs", filter=Q(jobs__in=job_ids))
    labels = reader.team.labels.annotate(selected_count=selected)
    choices = (
        LabelChoice(label.pk, label.name, label.selected_count, len(jobs)) for label in labels
    )
    return {
        "job_ids": job_ids,
        "title": jobs[0].title if len(jobs) == 1 else "",
        "choices": tuple(choices),
        "max_name_chars": MAX_LABEL_NAME_CHARS,
    }


def label_removal_text(label: Label) -> str:
    """Return how many videos are kept without the label; one query."""
    count = label.video_labels.count()
    have = "has it and is" if count == 1 else "have it and are"
    return f"{video_count_text(count)} {have} kept without it." if count else "No video has it."


def video_count_text(count: int) -> str:
    return f"{count} video{'' if count == 1 else 's'}"
