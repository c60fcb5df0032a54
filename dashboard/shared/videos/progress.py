"""The progress of a render: elapsed time against the usual, and the age of the last status."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.shared.formatting import clock, duration
from dashboard.shared.videos.display_state import DisplayState
from dashboard.shared.videos.labels import duration_range_text
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.polling.duration_history import UsualDuration

# The bar never fills: its end is beyond the usual duration, and moves as elapsed time approaches.
USUAL_SCALE_FACTOR, ELAPSED_SCALE_FACTOR = 1.3, 1.12
DEFAULT_SCALE_S = 60.0  # the scale of a render with an unknown usual duration
LATE_NOTE, FIRST_OF_KIND_NOTE = "longer than usual", "first of its kind"


@dataclass(frozen=True, slots=True)
class RenderProgressBar:
    """Percent of the scale; `usual_width` is 0 if the usual duration is unknown. `elapsed` is in
    seconds."""

    state: str
    elapsed: float
    fill: float
    usual_start: float
    usual_width: float
    note: str
    usual_note: str

    @property
    def sentence(self) -> str:
        return f"{duration(self.elapsed)}, {self.note}"


@dataclass(frozen=True, slots=True)
class Freshness:
    """Seconds since the last check and to the next one. If polling is interrupted, `last_status`
    and `suffix` are shown; `from_ledger`: the ledger is checked, not the job."""

    age_s: float = 0.0
    next_check_s: float | None = None
    last_status: str = ""
    suffix: str = ""
    from_ledger: bool = False


def render_elapsed_s(job: Job, now: datetime) -> float:
    """Return how many seconds the latest render has run, or ran."""
    if job.started_at is None:
        return 0.0
    return max(0.0, ((job.finished_at or now) - job.started_at).total_seconds())


def build_progress_bar(
    job: Job, state: DisplayState, usual: UsualDuration, now: datetime
) -> RenderProgressBar | None:
    """Return the bar of a running render; None for other videos, and for an imported one, of which
    it is not known when it was started."""
    if job.state != JobState.RUNNING or state.name not in ("running", "late", "paused"):
        return None
    if job.is_imported and job.started_at is None:
        return None
    elapsed = render_elapsed_s(job, now)
    end = max(elapsed * ELAPSED_SCALE_FACTOR, (usual.high or DEFAULT_SCALE_S) * USUAL_SCALE_FACTOR)
    low, high = usual.low or 0.0, usual.high or 0.0
    note = usual_duration_note(usual)
    is_interrupted = state.name == "paused" or bool(job.poll_error)
    return RenderProgressBar(
        state="waiting" if is_interrupted else state.name,
        elapsed=elapsed,
        fill=100 * elapsed / end,
        usual_start=100 * low / end,
        usual_width=100 * (high - low) / end,
        note=LATE_NOTE if state.name == "late" else note,
        usual_note=note,
    )


def usual_duration_note(usual: UsualDuration) -> str:
    if usual.low is not None and usual.high is not None:
        return f"usually {duration_range_text(usual.low, usual.high)}"
    return FIRST_OF_KIND_NOTE if usual.last is None else f"last time {duration(usual.last)}"


def build_freshness(
    job: Job, state: DisplayState, charge: Charge | None, now: datetime
) -> Freshness | None:
    """Return when the status was checked and when the next check is due; None if no check is
    due."""
    if charge is not None and charge.state == ChargeState.UNKNOWN:
        return Freshness(next_check_s=seconds_until(charge.due_at, now), from_ledger=True)
    if job.state != JobState.RUNNING or charge is not None or job.polled_at is None:
        return None
    since = max(0.0, (now - job.polled_at).total_seconds())
    last_status = job.raw_status or "in progress"
    if state.name == "paused" or job.is_polling_stopped:
        return Freshness(since, last_status=last_status)
    if job.poll_error:
        failing_since = clock(job.poll_failing_since or job.polled_at)
        return Freshness(
            since,
            last_status=last_status,
            suffix=f"; the service has not responded since {failing_since}",
        )
    return Freshness(age_s=since, next_check_s=seconds_until(job.next_poll_at, now))


def seconds_until(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (moment - now).total_seconds())
