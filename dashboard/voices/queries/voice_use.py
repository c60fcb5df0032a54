"""The videos that a voice reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse

from dashboard.shared.formatting import day
from dashboard.shared.videos.cards import film_still_url
from proxyapi.models import Job, JobKind, JobState, Tenant

MAX_SHOWN_VIDEOS = 3


@dataclass(frozen=True, slots=True)
class VoiceUse:
    """The newest videos, and how many there are."""

    videos: tuple[dict[str, Any], ...]
    count: int


@dataclass(frozen=True, slots=True)
class VoiceCount:
    """How many videos of the team a voice reads, how many drafts have it, and when it was last
    used."""

    videos: int = 0
    drafts: int = 0
    last_used_at: datetime | None = None


NEVER_USED = VoiceCount()


def voiced_jobs(tenant_id: UUID) -> QuerySet[Any]:
    """Return the team's videos and drafts, each annotated with the `voice` that it has."""
    jobs = Job.objects.visible().filter(tenant=tenant_id, kind=JobKind.FACELESS)
    return jobs.annotate(voice=KeyTextTransform("voice_id", "draft__settings"))


def load_voice_counts(tenant: Tenant) -> Mapping[str, VoiceCount]:
    """Return the counts by voice id; one query."""
    is_draft = Q(state=JobState.DRAFT)
    rows = (
        voiced_jobs(tenant.pk)
        .exclude(voice=None)
        .order_by()
        .values("voice")
        .annotate(
            videos=Count("pk", filter=~is_draft),
            drafts=Count("pk", filter=is_draft),
            used=Max("started_at"),
        )
    )
    return {
        str(row["voice"]): VoiceCount(row["videos"], row["drafts"], row["used"]) for row in rows
    }


def load_voice_use(job: Job, voice_id: str) -> VoiceUse:
    """Two queries."""
    videos = voiced_jobs(job.tenant_id).filter(voice=voice_id).exclude(state=JobState.DRAFT)
    newest = videos.select_related("member").order_by("-created_at", "-pk")[:MAX_SHOWN_VIDEOS]
    return VoiceUse(tuple(map(build_voiced_video, newest)), videos.count())


def build_voiced_video(job: Job) -> dict[str, Any]:
    has_film = job.state == JobState.COMPLETED and job.media_url
    return {
        "title": job.title,
        "url": reverse("video", args=[job.pk]),
        "note": f"{job.member.first_name}, {day(job.created_at)}",
        "still_url": film_still_url(job.pk) if has_film else "",
    }
