"""Labels that several parts of a video's page use; durations and times are in
`shared.formatting`."""

from __future__ import annotations

from typing import Any

from proxyapi.models import Job, JobKind, JobOrigin
from proxyapi.operations import get_operation

MINUTE_S = 60
FACELESS_TYPE_LABELS = {
    "ai-visuals": "AI visuals",
    "ai-clips": "AI clips",
    "b-roll": "B-roll",
    "url-based": "From a web page",
}
JOB_KIND_LABELS: dict[str, str] = {
    JobKind.FACELESS: "Faceless video",
    JobKind.CLIP: "Text to video",
    JobKind.STORYBOARD: "Storyboard",
    JobKind.CLONE: "Voice clone",
    JobKind.CHARACTER: "Character",
}


def is_made_in_studio(job: Job) -> bool:
    """True if the video has a draft of the studio, and the studio has steps for its kind."""
    return job.kind == JobKind.FACELESS and job.draft_or_none is not None


def maker_text(job: Job) -> str:
    """Return who made it, such as "Priya", or "Priya · key nightly-shorts" for what a script made.
    The job has its `api_key`."""
    if job.origin != JobOrigin.GATEWAY:
        return job.member.first_name
    what = "script"
    if job.api_key:
        what = f"{'agent' if job.api_key.client_id else 'key'} {job.api_key.name}"
    return f"{job.member.first_name} · {what}"


def job_type_label(job: Job) -> str:
    return FACELESS_TYPE_LABELS.get(str(job.chosen_settings.get("type")), JOB_KIND_LABELS[job.kind])


def storyboard_scenes(job: Job) -> list[dict[str, Any]]:
    """Return the scenes of a storyboard as they were sent; empty for one that a script made."""
    scenes = job.chosen_settings.get("scenes") if job.kind == JobKind.STORYBOARD else None
    return scenes if isinstance(scenes, list) else []


def storyboard_length_text(job: Job) -> str:
    """Return the length of a storyboard's film by its scenes, such as `1:08`; empty if it is not
    known."""
    seconds = [scene.get("duration") for scene in storyboard_scenes(job)]
    total = sum(value for value in seconds if isinstance(value, int))
    return f"{total // MINUTE_S}:{total % MINUTE_S:02}" if total else ""


def scene_count_text(count: int) -> str:
    return "1 scene" if count == 1 else f"{count} scenes"


def operation_label(operation: str) -> str:
    """Return the noun of an operation for a sentence such as "the render was sent"."""
    return get_operation(operation).noun


def duration_range_text(low: float, high: float) -> str:
    """Format a range of seconds, with the unit once if it is the same: "4–7 min"."""
    if high < 2 * MINUTE_S:
        first, last, unit = max(1, round(low)), max(1, round(high)), "s"
    elif low < MINUTE_S:
        return f"{max(1, round(low))} s to {round(high / MINUTE_S)} min"
    else:
        first, last, unit = round(low / MINUTE_S), round(high / MINUTE_S), "min"
    return f"{first} {unit}" if first == last else f"{first}–{last} {unit}"


def quote_text(text: str) -> str:
    """Put text of the service in quotes. The template escapes it."""
    return f"“{text.strip()}”"
