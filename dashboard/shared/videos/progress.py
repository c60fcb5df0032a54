"""How a render goes: elapsed time against the usual, and the age of what we know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.shared.formatting import clock, duration
from dashboard.shared.videos.display_state import DisplayState
from dashboard.shared.videos.labels import duration_range_text
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.polling.duration_history import UsualDuration

# The bar never fills up: its end lies beyond the usual, and moves once elapsed time comes near.
USUAL_SCALE_FACTOR, ELAPSED_SCALE_FACTOR = 1.3, 1.12
DEFAULT_SCALE_S = 60.0  # seconds; the scale of a render that nothing is known about yet
LATE_NOTE, FIRST_OF_KIND_NOTE = "longer than 95 % of renders", "first of its kind"


@dataclass(frozen=True, slots=True)
class RenderProgressBar:
    """Percent of the scale; `usual_width` is 0 without a band. `elapsed` is in seconds."""

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
    """Seconds since the last look and to the next one. Out of sight it says what was `seen`, and
    the rest in `tail`; `ledger`: the looks are at the ledger."""

    age_s: float = 0.0
    next_check_s: float | None = None
    last_status: str = ""
    suffix: str = ""
    from_ledger: bool = False


def render_elapsed_s(job: Job, now: datetime) -> float:
    """Seconds the latest render has run, or ran."""
    if job.started_at is None:
        return 0.0
    return max(0.0, ((job.finished_at or now) - job.started_at).total_seconds())


def build_progress_bar(
    job: Job, state: DisplayState, usual: UsualDuration, now: datetime
) -> RenderProgressBar | None:
    """The time bar of a running render; nothing else has one."""
    if job.state != JobState.RUNNING or state.name not in ("running", "late", "paused"):
        return None
    elapsed = render_elapsed_s(job, now)
    end = max(elapsed * ELAPSED_SCALE_FACTOR, (usual.high or DEFAULT_SCALE_S) * USUAL_SCALE_FACTOR)
    low, high = usual.low or 0.0, usual.high or 0.0
    note = usual_duration_note(usual)
    out_of_sight = state.name == "paused" or bool(job.poll_error)
    return RenderProgressBar(
        state="waiting" if out_of_sight else state.name,
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
    """When somebody looked and when the next look comes; nothing where no look is due."""
    if charge is not None and charge.state == ChargeState.UNKNOWN:
        return Freshness(next_check_s=seconds_until(charge.due_at, now), from_ledger=True)
    if job.state != JobState.RUNNING or charge is not None or job.polled_at is None:
        return None
    since = max(0.0, (now - job.polled_at).total_seconds())
    seen = job.raw_status or "in progress"
    if state.name == "paused" or job.is_polling_stopped:
        return Freshness(since, last_status=seen)
    if job.poll_error:
        away = clock(job.poll_failing_since or job.polled_at)
        return Freshness(
            since, last_status=seen, suffix=f"; the service has not responded since {away}"
        )
    return Freshness(age_s=since, next_check_s=seconds_until(job.next_poll_at, now))


def seconds_until(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (moment - now).total_seconds())
