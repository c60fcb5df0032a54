"""The finished clips and videos that a frame or a film can be taken from."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.videos.cards import film_still_url
from dashboard.shared.videos.labels import job_type_label
from proxyapi.kinds import ADDRESS_KEY
from proxyapi.models import Job, JobKind, JobState

MAX_FRAME_SOURCES = 12


@dataclass(frozen=True, slots=True)
class FrameSource:
    id: UUID
    title: str
    note: str
    still_url: str
    film_url: str


def film_reference(job: Job) -> dict[str, str]:
    """Return a finished film as a reference of a draft: its address at the service."""
    return {ADDRESS_KEY: job.media_url, "job": str(job.pk), "title": job.title}


def load_frame_sources(reader: Membership) -> tuple[FrameSource, ...]:
    """Return the newest finished ones, clips first; one query."""
    kinds = (JobKind.CLIP, JobKind.FACELESS, JobKind.STORYBOARD)
    jobs = Job.objects.visible().filter(
        tenant=reader.team.tenant_id, kind__in=kinds, state=JobState.COMPLETED
    )
    finished = jobs.exclude(media_url="").select_related("draft", "account")
    return tuple(
        FrameSource(
            id=job.pk,
            title=job.title,
            note=job_type_label(job),
            still_url=film_still_url(job.pk),
            film_url=reverse("video-media", args=[job.pk]),
        )
        for job in finished.order_by("kind", "-created_at")[:MAX_FRAME_SOURCES]
    )
