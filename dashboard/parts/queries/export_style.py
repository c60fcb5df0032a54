"""The captions that the dialog of a new export starts from, and how it draws them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.urls import reverse

from dashboard.models import BrandKit, Team, User
from dashboard.shared.videos.parts import EXPORT, EXPORT_FIELDS
from proxyapi.models import Charge, Job
from proxyapi.models.job_part import ASSETS

PREVIEW_WORDS = 4


def initial_export_style(job: Job, reader: User, like: UUID | None = None) -> Mapping[str, Any]:
    """Return the style of the export with the part `like`, else of the reader's last export, else
    the video's own. At most two queries."""
    exports = Charge.objects.filter(operation=EXPORT, tenant_id=job.tenant_id)
    if like:
        of_part = exports.filter(job=job, parts__id=like).first()
        if of_part is not None:
            return dict(of_part.body)
    last = exports.filter(member=reader).order_by("-created_at").first()
    own = {name: job.chosen_settings.get(name) for name in EXPORT_FIELDS}
    return own | (dict(last.body) if last else {})


def brand_kit_style(team: Team) -> Mapping[str, Any]:
    """Return the captions of the team's brand kit; empty if it has none. One query."""
    kit = BrandKit.objects.filter(team=team).first()
    kept = kit.options if kit else {}
    found = {name: kept.get(name) for name in EXPORT_FIELDS}
    return {name: row["slug"] for name, row in found.items() if isinstance(row, dict)}


def preview_words(job: Job) -> tuple[str, str]:
    """Return a few words of the script, the last one apart: some effects mark it."""
    words = str(job.chosen_settings.get("script") or job.title).split()[:PREVIEW_WORDS]
    return " ".join(words[:-1]), (words or [""])[-1]


def preview_picture_url(job: Job) -> str:
    """Return the first scene image of the video; empty if it has none."""
    part = job.parts.filter(list_name=ASSETS).exclude(media_url="").first()
    if part is None or part.details.get("type") == "video":
        return ""
    return f"{reverse('part-media', args=[job.pk, part.pk])}?v={part.media_version}"
