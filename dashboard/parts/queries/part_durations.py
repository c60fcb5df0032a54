"""How long new images and exports of this team usually take, and the bar of one in progress."""

from __future__ import annotations

from datetime import datetime

from dashboard.shared.videos.progress import (
    DEFAULT_SCALE_S,
    ELAPSED_SCALE_FACTOR,
    USUAL_SCALE_FACTOR,
    RenderProgressBar,
    usual_duration_note,
)
from proxyapi.models import Charge, ChargeState, Job, JobPart
from proxyapi.models.job_part import EXPORTS
from proxyapi.polling.duration_history import UsualDuration

MAX_COUNTED_DURATIONS = 64  # the newest; older durations say little about the present


def usual_request_duration(job: Job, operation: str) -> UsualDuration:
    """The time from the request to the answer, of those that were answered. One query."""
    answered = Charge.objects.filter(
        tenant_id=job.tenant_id,
        account__environment=job.account.environment,
        operation=operation,
        state=ChargeState.CONFIRMED,
        settled_at__isnull=False,
    ).order_by("-sent_at")
    times = answered.values_list("sent_at", "settled_at")[:MAX_COUNTED_DURATIONS]
    return usual_of([*times])


def usual_export_duration(job: Job) -> UsualDuration:
    """The time from the first reading of an export to its end. One query."""
    finished = JobPart.objects.filter(
        job__tenant_id=job.tenant_id,
        job__account__environment=job.account.environment,
        list_name=EXPORTS,
        failure_message="",
        finished_at__isnull=False,
    ).order_by("-created_at")
    times = finished.values_list("created_at", "finished_at")[:MAX_COUNTED_DURATIONS]
    return usual_of([*times])


def usual_of(times: list[tuple[datetime | None, datetime | None]]) -> UsualDuration:
    """`times` are start and end, newest first."""
    seconds = [
        max(0.0, (end - start).total_seconds()) for start, end in reversed(times) if start and end
    ]
    return UsualDuration.of_durations(seconds)


def build_part_bar(
    since: datetime, now: datetime, usual: UsualDuration, *, is_waiting: bool = False
) -> RenderProgressBar:
    elapsed = max(0.0, (now - since).total_seconds())
    low, high = usual.low or 0.0, usual.high or 0.0
    end = max(elapsed * ELAPSED_SCALE_FACTOR, (high or DEFAULT_SCALE_S) * USUAL_SCALE_FACTOR)
    note = usual_duration_note(usual)
    running = "late" if usual.is_late(elapsed) else "running"
    return RenderProgressBar(
        state="waiting" if is_waiting else running,
        elapsed=elapsed,
        fill=100 * elapsed / end,
        usual_start=100 * low / end,
        usual_width=100 * (high - low) / end,
        note=note,
        usual_note=note,
    )
