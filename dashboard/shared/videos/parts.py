"""Texts and tabs about the parts of a video: scene images and exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse

from dashboard.shared.video_options import FacelessOptions
from proxyapi import pricing
from proxyapi.models import Job, JobKind
from proxyapi.models.job_part import ASSETS
from proxyapi.operations import (
    EXPORT_OPERATION,
    NEW_IMAGE_OPERATION,
    OWN_MEDIA_OPERATION,
    get_operation,
)

NEW_IMAGE, OWN_MEDIA, EXPORT = NEW_IMAGE_OPERATION, OWN_MEDIA_OPERATION, EXPORT_OPERATION
TYPE_WITH_SCENES = "ai-visuals"
# The captions are all that the spec names of what an export takes.
EXPORT_FIELDS = {"caption_effect": "effect", "caption_position": "position", "font": "font"}
UNCHANGED_STYLE_TEXT = "Same style"


@dataclass(frozen=True, slots=True)
class VideoTab:
    label: str
    url: str
    count: int | None
    current: bool


def has_scenes(job: Job) -> bool:
    """True for a video whose images can be changed one by one (spec, Typed shortcuts)."""
    return job.kind == JobKind.FACELESS and job.chosen_settings.get("type") == TYPE_WITH_SCENES


def build_video_tabs(job: Job, current: str) -> tuple[VideoTab, ...]:
    """Return the tabs of a video's page, `video` or `scenes` being shown; none if it has only one.
    Uses `job.parts.all()`, which pages have prefetched."""
    if not has_scenes(job):
        return ()
    count = sum(part.list_name == ASSETS for part in job.parts.all())
    return (
        VideoTab("Video", reverse("video", args=[job.pk]), None, current == "video"),
        VideoTab("Scenes", reverse("scenes", args=[job.pk]), count, current == "scenes"),
    )


def export_style_text(body: Mapping[str, Any], options: FacelessOptions) -> str:
    """Return the chosen captions by name, such as `Karaoke, center, Condensed`."""
    names = []
    for field in EXPORT_FIELDS:
        choice = options.selected_choice(field, dict(body))
        if name := choice.name if choice else str(body.get(field) or ""):
            names.append(name[:1].lower() + name[1:] if field == "caption_position" else name)
    return ", ".join(names) or UNCHANGED_STYLE_TEXT


def listed_price(job: Job, operation: str) -> tuple[Decimal | None, int]:
    """Return the price in the service's list, in credits, and how many uses it grants free of
    charge."""
    price = get_operation(operation).price
    return pricing.fixed_price(job.account, operation), pricing.free_uses(job.account, price)
