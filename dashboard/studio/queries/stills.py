"""A picture of the team's own for the values of a setting."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse

from dashboard.shared.video_options import FacelessOptions
from dashboard.shared.videos.cards import film_still_url
from proxyapi.models import Job, JobKind, JobPart, JobState
from proxyapi.models.job_part import PREVIEWS

STILL_FIELDS = ("genre_id",)  # settings that are shown with pictures
MAX_SEARCHED_VIDEOS = 200  # newest videos that are searched for pictures


def load_option_stills(job: Job, options: FacelessOptions) -> Mapping[tuple[str, str], str]:
    """Return a URL for each field and value: of a frame of the team's newest finished video, or of
    the picture of a character. Two queries, one without characters."""
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
    return {**stills, **load_character_pictures(job, options)}


def load_character_pictures(job: Job, options: FacelessOptions) -> Mapping[tuple[str, str], str]:
    """Return the chosen preview of each character that the team trained, else its last one."""
    # The specification does not say which of the two ids a character's record has.
    uuids: dict[str, str] = {}
    for item in options.usable_items("characters", "uuid"):
        uuids |= {str(item.get("id")): str(item["uuid"]), str(item["uuid"]): str(item["uuid"])}
    if not uuids:
        return {}
    parts = (
        JobPart.objects.filter(
            job__in=Job.objects.visible(),
            job__account=job.account_id,
            job__tenant=job.tenant_id,
            job__kind=JobKind.CHARACTER,
            job__remote_id__in=uuids,
            list_name=PREVIEWS,
        )
        .exclude(media_url="")
        .select_related("job__draft")
    )
    ordered = sorted(parts, key=lambda part: (is_chosen_preview(part), part.position))
    return {
        ("character_id", uuids[str(part.job.remote_id)]): reverse(
            "part-media", args=[part.job_id, part.pk]
        )
        for part in ordered  # the last one of a character counts
    }


def is_chosen_preview(part: JobPart) -> bool:
    return part.upstream_id == part.job.chosen_settings.get("preview_id")
