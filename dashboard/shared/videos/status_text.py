"""Sentences about a video: what happened, its cost, and what happens next.

Those about its charges are in `charge_status`. They are plain text: the service's own words are in
quotes, and templates escape them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from dashboard.shared.formatting import clock, credits, day, duration
from dashboard.shared.videos.charge_status import open_charge_texts, refund_texts
from dashboard.shared.videos.cost import spent_credits
from dashboard.shared.videos.display_state import DisplayState, find_lost_charge
from dashboard.shared.videos.labels import operation_label, quote_text
from dashboard.shared.videos.progress import LATE_NOTE, render_elapsed_s
from proxyapi.models import (
    AccountPlan,
    Charge,
    ChargeState,
    Job,
    JobOrigin,
    JobState,
    Token,
    TokenState,
)
from proxyapi.models.charge import CHARGED_LATE_CODE
from proxyapi.operations import JOB_STARTING_OPERATIONS, SIDE_OPERATIONS

NO_TRIALS_TEXT = "The service allows its API on paid plans only, not on trials."
STILL_READABLE_TEXT = "The balance and the ledger can still be read."
NO_REASON_TEXT = "The service gave no reason."
STALLED_SUMMARY = "Still “{word}” after {elapsed}."
STALLED_TEXT = (
    "The service has said “{word}” since {since}, and this runs for {elapsed} now. It has not "
    "failed and may still finish, but it no longer seems to move, so it is checked rarely: next at "
    "{next}. “Check again” checks it now."
)
STALLED_RETRY_TEXT = (
    " A retry costs about {price} cr; the service may still finish this run and charge for both."
)
SCRIPT_DRAFT_SUMMARY = "Made by a script"
SCRIPT_DRAFT_TEXT = "Made by a script, which renders it. It has no draft in the studio."
NOT_RENDERED_TEXT = "Not rendered yet. You see the price before anything is charged."

LOST_SUMMARY = (
    "{cost} cr were charged at {at} for a {noun} whose number never reached us. Write to the "
    "service’s support with this time and amount."
)
LOST_DETAIL = (
    "{cost} cr were charged at {at} for a {noun} whose number never reached us. The service has no "
    "list of them, so we cannot find it. Write to its support with this time and amount. A refund "
    "would be seen in the ledger."
)


class StatusTexts(NamedTuple):
    """The text on a video's card, and the longer text on its page."""

    summary: str
    detail: str


@dataclass(frozen=True, slots=True)
class VideoContext:
    """The data that the sentences are built from."""

    job: Job
    token: Token
    token_owner_left: bool  # has left the team
    state: DisplayState
    charges: list[Charge]  # oldest first
    open_charge: Charge | None
    retry_price: Decimal | None
    now: datetime

    @property
    def last_charge(self) -> Charge | None:
        """Return the latest charge of the video itself, not of its parts or scenes."""
        own = [row for row in self.charges if row.operation not in SIDE_OPERATIONS]
        return own[-1] if own else None

    @property
    def refused_charge(self) -> Charge | None:
        """Return the latest charge if it was refused; its reason is then still shown."""
        last = self.last_charge
        return last if last is not None and last.state == ChargeState.REFUSED else None

    @property
    def last_reason(self) -> str:
        """Return the reason of the latest charge if it was refused, or charged only after it was
        called uncharged."""
        last = self.last_charge
        if last is not None and (
            last.state == ChargeState.REFUSED or last.code == CHARGED_LATE_CODE
        ):
            return last.reason
        return ""


def video_status_texts(context: VideoContext) -> StatusTexts:
    """The summary is empty if the picture and the bar show enough."""
    if context.open_charge is not None:
        pause_reason = context.job.account.pause_reason
        texts = open_charge_texts(context.open_charge, context.now, pause_reason)
        return StatusTexts(texts.summary, texts.detail)
    if lost := find_lost_charge(context.job, context.charges):
        values = {"cost": credits(lost.cost), "at": clock(lost.sent_at)}
        values["noun"] = operation_label(lost.operation)
        return StatusTexts(LOST_SUMMARY.format(**values), LOST_DETAIL.format(**values))
    match context.state.name:
        case "failed":
            spent = last_paid_run(context.charges)
            refund = refund_texts(spent, context.now).short if spent else ""
            summary = f"{failure_reason(context.job.failure_message)} {refund}".rstrip()
            return StatusTexts(summary, failure_text(context))
        case "paused":
            return StatusTexts(pause_text(context), f"{pause_text(context)} {resume_text(context)}")
        case "late" if context.job.is_stalled:
            return stalled_job_texts(context)
        case "late":
            return StatusTexts(context.last_reason, late_render_text(context))
        case "running":
            return StatusTexts(context.last_reason, running_render_text(context))
        case "draft" if context.job.origin == JobOrigin.GATEWAY and not context.last_reason:
            return StatusTexts(SCRIPT_DRAFT_SUMMARY, SCRIPT_DRAFT_TEXT)
        case "draft" if not context.last_reason:
            return StatusTexts("", NOT_RENDERED_TEXT)
    return StatusTexts(context.last_reason, context.last_reason)


def failure_text(context: VideoContext) -> str:
    spent = last_paid_run(context.charges)
    sentences = [failure_reason(context.job.failure_message)]
    if spent is not None:
        sentences.append(
            f"{credits(spent.cost)} cr were charged; {refund_texts(spent, context.now).clause}."
        )
    if context.retry_price is not None:
        sentences.append(f"A retry costs about {credits(context.retry_price)} cr.")
    return " ".join(sentences)


def stalled_job_texts(context: VideoContext) -> StatusTexts:
    job = context.job
    if job.is_polling_stopped:
        return StatusTexts(context.last_reason, job.poll_error)
    detail = stalled_job_text(job, context.now)
    if context.retry_price is not None:
        detail += STALLED_RETRY_TEXT.format(price=credits(context.retry_price))
    summary = stalled_summary(job, context.now)
    return StatusTexts(context.last_reason or summary, context.last_reason or detail)


def stalled_summary(job: Job, now: datetime) -> str:
    elapsed = duration(render_elapsed_s(job, now))
    return STALLED_SUMMARY.format(word=job.raw_status or "in progress", elapsed=elapsed)


def stalled_job_text(job: Job, now: datetime) -> str:
    """Why a job counts as no longer moving, and what happens next."""
    return STALLED_TEXT.format(
        word=job.raw_status or "in progress",
        since=clock(job.status_since or job.started_at),
        elapsed=duration(render_elapsed_s(job, now)),
        next=clock(job.next_poll_at),
    )


def late_render_text(context: VideoContext) -> str:
    job = context.job
    if job.is_polling_stopped:
        return job.poll_error
    since_poll = duration((context.now - (job.polled_at or context.now)).total_seconds())
    every = ""
    if job.polled_at and job.next_poll_at and job.next_poll_at > job.polled_at:
        every = f", every {duration((job.next_poll_at - job.polled_at).total_seconds())}"
    return (
        f"{duration(render_elapsed_s(job, context.now))}, {LATE_NOTE}. It was still "
        f"{job.raw_status} {since_poll} ago. It has not failed, and we keep checking{every}."
    )


def running_render_text(context: VideoContext) -> str:
    """Return how a doubtful charge was settled; else explain the bar."""
    last = context.last_charge
    if last is not None and last.code == CHARGED_LATE_CODE:
        return last.reason
    if last is not None and last.state == ChargeState.MATCHED:
        return (
            f"It was charged: {credits(last.cost)} cr, ledger {clock(last.sent_at)}. The "
            f"{operation_label(last.operation)} is running; nothing was sent twice."
        )
    if context.job.poll_error:
        return context.job.poll_error
    return "The service reports a status, not a percentage."


def pause_text(context: VideoContext) -> str:
    token = context.token
    whose, since = f"{token.owner.first_name}’s", token.state_since
    match token.state:
        case TokenState.WORKING | TokenState.PAUSED if context.job.account.pause_reason:
            return context.job.account.pause_reason
        case TokenState.REVOKED:
            return f"{whose} token stopped working at {clock(since)}."
        case TokenState.REMOVED:
            return f"{whose} token was removed at {clock(since)}."
    if is_waiting_for_first_plan(context):
        return NO_TRIALS_TEXT
    lapsed = day(since)
    return f"The plan lapsed {lapsed if lapsed == 'today' else f'on {lapsed}'}."


def resume_text(context: VideoContext) -> str:
    if context.job.account.pause_reason:
        return "Nothing is lost. Status checks resume automatically then."
    if is_waiting_for_first_plan(context):
        return (
            f"{STILL_READABLE_TEXT} Status checks are paused and resume automatically when a plan "
            "is paid."
        )
    if context.token.state == TokenState.PAUSED:
        return (
            "Nothing is lost. Status checks are paused and resume automatically when the plan is "
            "paid."
        )
    name = context.token.owner.first_name
    if context.token_owner_left:
        return (
            f"{name} left the team. The render continues at the service, but Reelroom cannot check "
            f"it without a token from {name}."
        )
    return (
        f"The render continues at the service. Reelroom can check it again when {name} adds a new "
        "token."
    )


def is_waiting_for_first_plan(context: VideoContext) -> bool:
    """True if the account is on a trial, so that no plan lapsed."""
    return (
        context.token.state == TokenState.PAUSED and context.job.account.plan == AccountPlan.TRIAL
    )


def failure_reason(message: str) -> str:
    """Return the service's own words for a failure, in quotes."""
    return quote_text(message) if message.strip() else NO_REASON_TEXT


def last_paid_run(charges: list[Charge]) -> Charge | None:
    """Return the charge that paid for the latest run."""
    paid = [
        charge
        for charge in charges
        if charge.is_charged and charge.operation in JOB_STARTING_OPERATIONS
    ]
    return paid[-1] if paid else None


def completion_announcement(context: VideoContext) -> str:
    """Return the screen reader text for a finished video."""
    done = "is done" if context.job.state == JobState.COMPLETED else context.state.label.lower()
    return f"{quote_text(context.job.title)} {done}, {credits(spent_credits(context.charges))} cr."
