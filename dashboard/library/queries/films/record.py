"""What a film was made of: the scenes that were sent, and all that was paid for them.

A change that a copy cannot take makes a new copy, so the clips of a film may have been made in
several. Copies that never became a film belong to the next one that did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from dashboard.shared.storyboards.copy_clips import copy_content_of
from proxyapi.models import Charge, Job, JobKind, JobPart, JobState, Storyboard
from proxyapi.models.job_part import SCENE_CLIPS


@dataclass(frozen=True, slots=True)
class FilmRecord:
    """`copies` are the replaced ones without a film, then the film's own, oldest first; `charges`
    are those of all of them. `content` is what was sent of the film, empty if it is not known."""

    job: Job
    storyboard: Storyboard | None
    copies: tuple[Job, ...]
    charges: list[Charge]

    @property
    def content(self) -> Mapping[str, Any]:
        return copy_content_of(self.job)

    @property
    def scenes(self) -> list[dict[str, Any]]:
        """The scenes in the order of the film, as they were sent."""
        return list(self.content.get("scenes", ()))

    @property
    def clips(self) -> dict[str, JobPart]:
        """The clips of the film's own copy by the scene's id at the service."""
        return clips_of(self.job)

    def copy_of(self, charge: Charge) -> Job:
        return next(copy for copy in self.copies if copy.pk == charge.job_id)


def load_film_record(job: Job) -> FilmRecord | None:
    """Return the record of a job of `load_video_context`; None if it is no storyboard. Four queries
    if it was made here."""
    if job.kind != JobKind.STORYBOARD:
        return None
    copy = getattr(job, "storyboard_copy", None)
    storyboard = copy.storyboard if copy else None
    copies = (*(load_replaced_copies(job, storyboard) if storyboard else ()), job)
    charges = [charge for one in copies for charge in one.charges.all()]
    return FilmRecord(job, storyboard, copies, sorted(charges, key=lambda row: row.created_at))


def load_replaced_copies(job: Job, storyboard: Storyboard) -> Iterable[Job]:
    """Return the copies of the storyboard between the film before and this one."""
    copies = Job.objects.filter(
        storyboard_copy__storyboard=storyboard, created_at__lt=job.created_at
    ).exclude(pk=job.pk)
    earlier_film = copies.exclude(state=JobState.DRAFT).order_by("-created_at").first()
    if earlier_film is not None:
        copies = copies.filter(created_at__gt=earlier_film.created_at)
    charges = Charge.objects.order_by("created_at", "pk")
    return (
        copies.select_related("draft", "member", "account")
        .prefetch_related(Prefetch("charges", queryset=charges), "parts")
        .order_by("created_at")
    )


def clips_of(job: Job) -> dict[str, JobPart]:
    parts = (part for part in job.parts.all() if part.list_name == SCENE_CLIPS)
    return {part.remote_id: part for part in parts}
