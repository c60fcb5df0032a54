"""A picture of the team's own for the values of a setting."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models.fields.json import KeyTextTransform

from dashboard.shared.videos.cards import film_still_url
from proxyapi.models import Job, JobKind, JobState

STILL_FIELDS = ("genre_id",)  # settings that are shown with pictures
MAX_SEARCHED_VIDEOS = 200  # newest videos that are searched for pictures


def load_option_stills(job: Job) -> Mapping[tuple[str, str], str]:
    """Return the URL of a frame of the team's newest finished video for each field and value. One
    query."""
    videos = (
        Job.objects.visible()
        .filter(tenant=job.tenant_id, kind=JobKind.FACELESS, state=JobState.COMPLETED)
        .exclude(media_url="")
        .annotate(**{name: KeyTextTransform(name, "draft__settings") for name in STILL_FIELDS})
        .order_by("-finished_at")
        .values("pk", *STILL_FIELDS)[:MAX_SEARCHED_VIDEOS]
    )
    stills: dict[tuple[str, str], str] = {}
    for video in videos:
        for name in STILL_FIELDS:
            if video[name]:
                stills.setdefault((name, str(video[name])), film_still_url(video["pk"]))
    return stills
