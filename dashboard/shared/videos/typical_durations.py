"""How long a render usually takes: this tenant's own finished ones of its kind, type and length.

No percent is invented: the band is where 8 of 10 finished, and late is longer than 19 of 20 took.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models.fields.json import KT
from django.db.models.functions import Length

from dashboard.shared.formatting import duration
from dashboard.shared.videos.labels import duration_range_text
from proxyapi.models import Job, JobState
from proxyapi.polling.duration_model import midpoint_duration

MAX_SAMPLED_RENDERS = 300  # renders that are looked back on
MIN_RENDERS_FOR_BAND = 3
MIN_RENDERS_FOR_LATE = 5
LETTERS_PER_SECOND = 15  # of narration: 150 words a minute, six letters a word
LENGTH_CLASS_LIMITS_S = (
    45,
    90,
    240,
    600,
)  # seconds of film; a class ends with each, the last one is open
FIRST_OF_KIND_NOTE = "first of its kind"

RenderClass = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class UsualDuration:
    """Seconds: `low` to `high` is the band, past `late_after` it is late. None: too few to say."""

    low: float | None = None
    high: float | None = None
    late_after: float | None = None
    note: str = FIRST_OF_KIND_NOTE

    def is_late(self, elapsed: float) -> bool:
        return self.late_after is not None and elapsed > self.late_after


def load_usual_durations(tenant_id: UUID) -> Mapping[RenderClass, UsualDuration]:
    """What is usual in this tenant, by class, in one query; an unseen class is first of its
    kind."""
    finished = Job.objects.filter(
        tenant_id=tenant_id,
        state=JobState.COMPLETED,
        started_at__isnull=False,
        finished_at__isnull=False,
    ).order_by("-finished_at")
    columns = (
        "kind",
        KT("wanted__type"),
        Length(KT("wanted__script")),
        "started_at",
        "polled_at",
        "finished_at",
    )
    took: dict[RenderClass, list[float]] = defaultdict(list)
    for kind, type_, letters, *times in finished.values_list(*columns)[:MAX_SAMPLED_RENDERS]:
        if (seconds := render_duration_s(*times)) is not None:
            took[render_class(kind, type_, letters)].append(seconds)
    return defaultdict(
        UsualDuration, {name: usual_duration(seconds) for name, seconds in took.items()}
    )


def render_duration_s(
    started_at: datetime, polled_at: datetime | None, finished_at: datetime
) -> float | None:
    """How long a render took. None where it was last seen running long before it was seen finished:
    Reelroom slept or the service was away, and that is no time of the render's."""
    age = (finished_at - started_at).total_seconds()
    return midpoint_duration((polled_at - started_at).total_seconds(), age) if polled_at else age


def render_class(kind: str, type_: str | None, letters: int | None) -> RenderClass:
    return (
        kind,
        type_ or "",
        bisect_left(LENGTH_CLASS_LIMITS_S, (letters or 0) / LETTERS_PER_SECOND),
    )


def job_render_class(job: Job) -> RenderClass:
    return render_class(job.kind, job.wanted.get("type"), len(str(job.wanted.get("script") or "")))


def usual_duration(seconds: list[float]) -> UsualDuration:
    """The band of these durations, the newest first; of very few only the last one is told."""
    if not seconds:
        return UsualDuration()
    ordered = sorted(seconds)
    if len(ordered) < MIN_RENDERS_FOR_BAND:
        return UsualDuration(note=f"last time {duration(seconds[0])}")
    low, high = quantile(ordered, 0.10), quantile(ordered, 0.90)
    late_after = quantile(ordered, 0.95) if len(ordered) >= MIN_RENDERS_FOR_LATE else None
    return UsualDuration(low, high, late_after, f"usually {duration_range_text(low, high)}")


def quantile(ordered: list[float], share: float) -> float:
    """The value below which that share of them lies, between neighbours by distance."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
