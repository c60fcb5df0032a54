"""Copies of storyboards at the service. One of which no film was requested is no video: it has no
card, and its page is the editor of its storyboard."""

from __future__ import annotations

from collections.abc import Iterable

from django.urls import reverse

from proxyapi.models import VIDEO_KINDS, Job, JobKind, JobState, StoryboardCopy
from proxyapi.operations import JOB_STARTING_OPERATIONS


def is_unrendered_copy(job: Job) -> bool:
    """As `JobQuerySet.videos` leaves them out; uses `job.charges.all()`."""
    if job.kind != JobKind.STORYBOARD or job.state != JobState.DRAFT:
        return False
    return not any(
        charge.is_open and charge.operation in JOB_STARTING_OPERATIONS
        for charge in job.charges.all()
    )


def select_videos(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs that the library shows."""
    return [job for job in jobs if job.kind in VIDEO_KINDS and not is_unrendered_copy(job)]


def storyboard_url(job: Job) -> str:
    """Return the URL of the editor that a job of kind storyboard was sent from; empty if its
    storyboard is hidden, or it was not made here."""
    copy: StoryboardCopy | None = getattr(job, "storyboard_copy", None)
    if copy is None or copy.storyboard.hidden_at is not None:
        return ""
    return reverse("storyboard", args=[copy.storyboard_id])
