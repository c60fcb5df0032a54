"""Labels of the demo's videos."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from dashboard.models import Label, Membership, VideoLabel
from proxyapi.models import Job

PORTRAIT_RATIO = "9:16"
WORDS_BY_LABEL: dict[str, Collection[str]] = {
    "Ocean": ("sea", "whale", "octopus", "lighthouse", "tide", "reef", "fish", "boat", "island"),
    "City stories": ("city", "bakery", "street", "train", "library", "market", "bridge", "coffee"),
    "Shorts": (),  # all portrait videos
}


def create_labels(jobs: Iterable[Job], by: Membership, at: datetime) -> None:
    """Create the labels that a member has given to the videos, by their titles and formats."""
    labels = {
        name: Label.objects.create(team=by.team, name=name, created_by=by.user, created_at=at)
        for name in WORDS_BY_LABEL
    }
    VideoLabel.objects.bulk_create(
        VideoLabel(label=labels[name], job=job) for job in jobs for name in label_names(job)
    )


def label_names(job: Job) -> list[str]:
    words = job.title.lower().replace("?", "").split()
    stems = {word.rstrip("s") for word in words} | set(words)
    names = [name for name, topics in WORDS_BY_LABEL.items() if stems & set(topics)]
    is_portrait = job.chosen_settings.get("aspect_ratio") == PORTRAIT_RATIO
    return [*names, "Shorts"] if is_portrait else names
