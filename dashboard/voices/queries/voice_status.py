"""The state of a cloned voice in words: what happened, what it cost, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.videos.charge_status import SETTLEMENT_DEADLINE, open_charge_texts
from dashboard.shared.videos.display_state import STALLED_LABEL
from dashboard.shared.videos.labels import quote_text
from dashboard.shared.videos.progress import render_elapsed_s
from dashboard.shared.videos.status_text import VideoContext, stalled_job_text
from dashboard.voices.clone_settings import is_made_without_id
from proxyapi.models import Charge, ChargeState, Job, JobState

STATUS_LABELS = {"pending": "Processing", "processing": "Processing"}
NO_REASON = "The service gives no reason."
RUNNING_TEXT = (
    "You can leave this page. When the voice is ready it appears in the studio. The service "
    "reports a status, not a percentage."
)
READY_TEXT = "It is offered in the studio."
LISTED_SOON = "The list of voices is read again; then the studio offers it."
NOT_IDENTIFIED = (
    "The service does not say which of its voices this is, or does not list it yet. Look for its "
    "name in the studio."
)
NO_ID_TEXT = (
    "The service made this voice, but its answer was lost and with it the id to ask about. It "
    "appears among the voices of the studio under its name when it is ready. It is not sent again."
)
WITHDRAWN_TEXT = (
    "The consent was withdrawn, so the voice is offered neither in the studio nor in the list. "
    "Finished videos stay as they are. The service has no way to delete a voice through its API."
)
FAILED_TEXT = (
    "{cost} What the slot does now is shown under Slot. Create it again with other samples: name, "
    "gender and samples are kept."
)
# When a request of a price was lost (credits, sent at, settled by).
LOST_PAID_TEXT = (
    "We do not know whether the voice was made and {price} cr were spent. It was sent at {since} "
    "and the answer got lost. It will not be sent again; slots and ledger decide, at the latest by "
    "{until}."
)
LOST_FREE_TEXT = (
    "We do not know whether the voice was made. It was sent at {since} and the answer got lost. It "
    "will not be sent again; slots and ledger decide, at the latest by {until}."
)
REFUSED_HEADING = "The voice was not created"


@dataclass(frozen=True, slots=True)
class VoiceStatus:
    """`glyph` is the `data-state`; `quote` has words of the service; a refused request of a draft
    is in `refusal`. `is_unknown`: the answer was lost and is not settled."""

    glyph: str
    label: str
    heading: str
    text: str
    quote: str = ""
    code: str = ""
    refusal: str = ""
    is_unknown: bool = False


def build_voice_status(context: VideoContext, voice_id: str, *, withdrawn: bool) -> VoiceStatus:
    job, charge = context.job, context.open_charge
    if withdrawn:
        return VoiceStatus("paused", "Consent withdrawn", "Consent withdrawn", WITHDRAWN_TEXT)
    if charge is not None and charge.applied_at is None and charge.unidentified_at is None:
        return open_charge_status(charge, context.now)
    match job.state:
        case JobState.RUNNING:
            glyph = context.state.name if context.state.name in ("late", "paused") else "running"
            text = job.poll_error or RUNNING_TEXT
            if job.is_stalled and glyph == "late":
                text = job.poll_error or stalled_job_text(job, context.now)
                return VoiceStatus(glyph, STALLED_LABEL, STALLED_LABEL, text)
            return VoiceStatus(glyph, running_label(job), "Making the voice", text)
        case JobState.COMPLETED:
            text = READY_TEXT if voice_id else not_listed_text(job)
            return VoiceStatus("completed", "Ready", "Preview", text)
        case JobState.FAILED:
            return failed_status(job, context)
    if is_made_without_id(job):
        text = READY_TEXT if voice_id else NO_ID_TEXT
        return VoiceStatus("completed" if voice_id else "unknown", "Made", "Made", text)
    return VoiceStatus("draft", "Draft", "Draft", "", refusal=last_refusal(context.charges))


def open_charge_status(charge: Charge, now: datetime) -> VoiceStatus:
    texts = open_charge_texts(charge, now, charge.account.pause_reason)
    text = texts.detail
    is_unknown = charge.state == ChargeState.UNKNOWN
    if is_unknown:
        sent_at = charge.sent_at or charge.created_at
        lost = LOST_PAID_TEXT if charge.price else LOST_FREE_TEXT
        text = lost.format(
            price=credits(charge.price),
            since=clock(sent_at),
            until=clock(sent_at + SETTLEMENT_DEADLINE),
        )
    heading = "Not known" if is_unknown else "Sending the voice"
    return VoiceStatus(texts.glyph, texts.label, heading, text, is_unknown=is_unknown)


def running_label(job: Job) -> str:
    raw = job.raw_status
    return STATUS_LABELS.get(raw) or (f"In progress: {raw}" if raw else "In progress")


def not_listed_text(job: Job) -> str:
    read_at = job.account.options_as_of
    is_older = read_at is None or (job.finished_at is not None and read_at < job.finished_at)
    return LISTED_SOON if is_older else NOT_IDENTIFIED


def failed_status(job: Job, context: VideoContext) -> VoiceStatus:
    paid = [charge for charge in context.charges if charge.is_charged and charge.cost]
    last = max(paid, key=lambda charge: charge.sent_at or charge.created_at, default=None)
    cost = f"{credits(last.cost)} cr were charged." if last else "Nothing was charged."
    ended = f"status {job.raw_status}, {clock(job.finished_at)}"
    return VoiceStatus(
        "failed",
        "Failed",
        "The voice could not be made",
        FAILED_TEXT.format(cost=cost),
        quote=quote_text(job.failure_message) if job.failure_message else NO_REASON,
        code=f"{ended}, after {duration(render_elapsed_s(job, context.now))}",
        refusal=last_refusal(context.charges, since=job.finished_at),
    )


def last_refusal(charges: list[Charge], since: datetime | None = None) -> str:
    """Why the last request was refused; empty if it was not, or if it is older than `since`."""
    last = charges[-1] if charges else None
    if last is None or last.state != ChargeState.REFUSED:
        return ""
    is_old = since is not None and last.created_at < since
    return "" if is_old else last.reason
