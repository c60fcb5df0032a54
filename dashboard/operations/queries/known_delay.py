"""How long a finished render may have been finished before the portal knew it.

The service does not say when a render ended. It ended between the last poll that read it as running
and the one that read it as finished, so that span is the most that the delay can have been.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, F, Q

from proxyapi.models import Job, JobState, Tenant

DELAY_WINDOW = timedelta(hours=24)
MAX_JOBS_READ = 2_000  # newest first


@dataclass(frozen=True, slots=True)
class KnownDelay:
    """`median_s` and `p95_s` are seconds at most, None without a finished render. `unseen` are
    running renders whose last poll failed."""

    finished: int
    median_s: float | None
    p95_s: float | None
    running: int
    unseen: int

    @property
    def median(self) -> str:
        return seconds_text(self.median_s)

    @property
    def p95(self) -> str:
        return seconds_text(self.p95_s)


def load_known_delay(tenant: Tenant, now: datetime) -> KnownDelay:
    """Two queries."""
    finished = Job.objects.filter(
        tenant=tenant,
        state__in=(JobState.COMPLETED, JobState.FAILED),
        finished_at__gt=now - DELAY_WINDOW,
        polled_at__isnull=False,
        polled_at__lte=F("finished_at"),
    )
    times = finished.order_by("-finished_at").values_list("polled_at", "finished_at")
    spans = sorted(
        (end - seen).total_seconds() for seen, end in times[:MAX_JOBS_READ] if seen and end
    )
    running = Job.objects.visible().filter(tenant=tenant, state=JobState.RUNNING)
    counts = running.aggregate(
        running=Count("pk"), unseen=Count("pk", filter=Q(poll_failing_since__isnull=False))
    )
    return KnownDelay(
        finished=len(spans),
        median_s=percentile(spans, 0.5),
        p95_s=percentile(spans, 0.95),
        running=counts["running"],
        unseen=counts["unseen"],
    )


def seconds_text(value: float | None) -> str:
    return "none yet" if value is None else f"{value:.1f} s"


def percentile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest of the sorted values that `share` of them do not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)] if values else None
