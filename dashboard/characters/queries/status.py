"""The state of a character in words: training, ready, failed, unknown, not trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from dashboard.shared.formatting import clock, credits
from dashboard.shared.videos.charge_status import open_charge_texts, select_open_charge
from dashboard.shared.videos.display_state import (
    UPSTREAM_STATUS_LABELS,
    DisplayState,
    display_state,
)
from dashboard.shared.videos.progress import (
    Freshness,
    RenderProgressBar,
    build_freshness,
    build_progress_bar,
    render_elapsed_s,
)
from dashboard.shared.videos.status_text import failure_reason, stalled_job_text
from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.operations import TRAINING_OPERATION
from proxyapi.polling.duration_history import DurationHistory

STATE_LABELS = {JobState.DRAFT: "Not trained", JobState.COMPLETED: "Ready"}
TRAINING_WORDS = frozenset({"training", *UPSTREAM_STATUS_LABELS})
NO_REFUND_TEXT = "{cost} cr were charged. The service promises no refund."
UNCHECKED_TEXT = (
    "The training continues at the service. Reelroom can check it again when the token works."
)
LATE_TEXT = "It takes longer than usual. It has not failed, and we keep checking."


@dataclass(frozen=True, slots=True)
class CharacterStatus:
    """`summary` is the text on a card, `detail` the longer one on the page; `training` is the last
    charge of a training."""

    state: DisplayState
    summary: str
    detail: str
    bar: RenderProgressBar | None
    freshness: Freshness | None
    training: Charge | None

    @property
    def is_trained(self) -> bool:
        return self.state.name == "completed"


def build_status(job: Job, durations: DurationHistory, now: datetime) -> CharacterStatus:
    """Uses `job.charges.all()`, oldest first, which pages have prefetched."""
    charges = list(job.charges.all())
    trainings = [charge for charge in charges if charge.operation == TRAINING_OPERATION]
    usual, open_charge = durations.usual_for(job), select_open_charge(charges)
    is_late = job.state == JobState.RUNNING and usual.is_late(render_elapsed_s(job, now))
    state = display_state(job, open_charge, job.token, late=is_late)
    last = trainings[-1] if trainings else None
    if open_charge is not None:
        texts = open_charge_texts(open_charge, now, job.account.pause_reason)
        summary, detail = texts.summary, texts.detail
    else:
        state = replace(state, label=state_label(job, state))
        summary = detail = status_text(job, state, last, now)
    return CharacterStatus(
        state,
        summary,
        detail,
        build_progress_bar(job, state, usual, now),
        build_freshness(job, state, open_charge, now),
        last,
    )


def state_label(job: Job, state: DisplayState) -> str:
    if job.is_stalled and state.name == "late":
        return state.label
    if state.name in ("running", "late") and job.raw_status in TRAINING_WORDS:
        return "Training"
    return STATE_LABELS.get(JobState(job.state), state.label)


def status_text(job: Job, state: DisplayState, last: Charge | None, now: datetime) -> str:
    match state.name:
        case "failed":
            paid = last is not None and last.is_charged
            cost = NO_REFUND_TEXT.format(cost=credits(last.cost)) if last and paid else ""
            return f"{failure_reason(job.failure_message)} {cost}".strip()
        case "paused":
            return job.account.pause_reason or UNCHECKED_TEXT
        case "late":
            text = stalled_job_text(job, now) if job.is_stalled else LATE_TEXT
            return job.poll_error or text
        case "running":
            return job.poll_error or settled_text(last)
    return last.reason if last is not None and last.state == ChargeState.REFUSED else ""


def settled_text(last: Charge | None) -> str:
    """How a training whose answer was lost was settled."""
    if last is None or last.state != ChargeState.MATCHED or last.sent_at is None:
        return ""
    return f"It was charged: {credits(last.cost)} cr, ledger {clock(last.sent_at)}."
