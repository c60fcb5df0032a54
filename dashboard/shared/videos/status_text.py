"""The sentences about one video: what happened, its cost, what is next.

What is said of its charges is in `charge_status`. Plain text: the service's own words stand in
quotes and are escaped where they are printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from dashboard.shared.formatting import clock, credits, day, duration
from dashboard.shared.videos.charge_status import open_charge_texts, refund_texts
from dashboard.shared.videos.cost import spent_credits
from dashboard.shared.videos.display_state import DisplayState
from dashboard.shared.videos.labels import operation_label, quote_text
from dashboard.shared.videos.progress import LATE_NOTE, render_elapsed_s
from proxyapi.models import AccountPlan, Charge, ChargeState, Job, JobState, Token, TokenState
from proxyapi.models.charge import CHARGED_LATE_CODE
from proxyapi.operations import JOB_STARTING_OPERATIONS

NO_TRIALS_TEXT = "The service allows its API on paid plans only, not on trials."
STILL_READABLE_TEXT = "The balance and the ledger can still be read."
NO_REASON_TEXT = "The service gave no reason."
NOT_RENDERED_TEXT = "Not rendered yet. You see the price before anything is charged."


class StatusTexts(NamedTuple):
    """What is said of a video: on its card, and in full on its own page."""

    summary: str
    detail: str


@dataclass(frozen=True, slots=True)
class VideoContext:
    """Everything the sentences are made of."""

    job: Job
    token: Token
    token_owner_left: bool  # the team
    state: DisplayState
    charges: list[Charge]  # oldest first
    open_charge: Charge | None
    retry_price: Decimal | None
    now: datetime

    @property
    def refused_charge(self) -> Charge | None:
        """The latest charge, if it came to nothing: its reason is still news."""
        last = self.charges[-1] if self.charges else None
        return last if last is not None and last.state == ChargeState.REFUSED else None

    @property
    def last_reason(self) -> str:
        """What is said of the latest charge, if it came to nothing, or took credits only after it
        was called uncharged."""
        last = self.charges[-1] if self.charges else None
        if last is not None and (
            last.state == ChargeState.REFUSED or last.code == CHARGED_LATE_CODE
        ):
            return last.reason
        return ""


def video_status_texts(context: VideoContext) -> StatusTexts:
    """The summary is empty where the picture and the bar say it all."""
    if context.open_charge is not None:
        pause_reason = context.job.account.pause_reason
        texts = open_charge_texts(context.open_charge, context.now, pause_reason)
        return StatusTexts(texts.summary, texts.detail)
    match context.state.name:
        case "failed":
            spent = last_paid_run(context.charges)
            refund = refund_texts(spent).short if spent else ""
            summary = f"{failure_reason(context.job.failure_message)} {refund}".rstrip()
            return StatusTexts(summary, failure_text(context))
        case "paused":
            return StatusTexts(pause_text(context), f"{pause_text(context)} {resume_text(context)}")
        case "late":
            return StatusTexts(context.last_reason, late_render_text(context))
        case "running":
            return StatusTexts(context.last_reason, running_render_text(context))
        case "draft" if not context.last_reason:
            return StatusTexts("", NOT_RENDERED_TEXT)
    return StatusTexts(context.last_reason, context.last_reason)


def failure_text(told: VideoContext) -> str:
    spent = last_paid_run(told.charges)
    said = [failure_reason(told.job.failure_message)]
    if spent is not None:
        said.append(f"{credits(spent.cost)} cr were charged; {refund_texts(spent).clause}.")
    if told.retry_price is not None:
        said.append(f"A retry costs about {credits(told.retry_price)} cr.")
    return " ".join(said)


def late_render_text(told: VideoContext) -> str:
    job = told.job
    if job.is_polling_stopped:
        return job.poll_error
    looked = duration((told.now - (job.polled_at or told.now)).total_seconds())
    every = ""
    if job.polled_at and job.next_poll_at and job.next_poll_at > job.polled_at:
        every = f", every {duration((job.next_poll_at - job.polled_at).total_seconds())}"
    return (
        f"{duration(render_elapsed_s(job, told.now))}, {LATE_NOTE}. It was still {job.raw_status} "
        f"{looked} ago. It has not failed, and we keep checking{every}."
    )


def running_render_text(told: VideoContext) -> str:
    """Settled doubts are told; else the bar is explained."""
    last = told.charges[-1] if told.charges else None
    if last is not None and last.code == CHARGED_LATE_CODE:
        return last.reason
    if last is not None and last.state == ChargeState.MATCHED:
        return (
            f"It was charged: {credits(last.cost)} cr, ledger {clock(last.sent_at)}. The "
            f"{operation_label(last.operation)} is running; nothing was sent twice."
        )
    if told.job.poll_error:
        return told.job.poll_error
    return "The service reports a status, not a percentage."


def pause_text(told: VideoContext) -> str:
    token = told.token
    whose, since = f"{token.owner.first_name}’s", token.state_since
    match token.state:
        case TokenState.WORKING | TokenState.PAUSED if told.job.account.pause_reason:
            return told.job.account.pause_reason
        case TokenState.REVOKED:
            return f"{whose} token stopped working at {clock(since)}."
        case TokenState.REMOVED:
            return f"{whose} token was removed at {clock(since)}."
    if is_waiting_for_first_plan(told):
        return NO_TRIALS_TEXT
    lapsed = day(since)
    return f"The plan lapsed {lapsed if lapsed == 'today' else f'on {lapsed}'}."


def resume_text(told: VideoContext) -> str:
    if told.job.account.pause_reason:
        return "Nothing is lost. Status checks resume automatically then."
    if is_waiting_for_first_plan(told):
        return (
            f"{STILL_READABLE_TEXT} Status checks are paused and resume automatically when a plan "
            "is paid."
        )
    if told.token.state == TokenState.PAUSED:
        return (
            "Nothing is lost. Status checks are paused and resume automatically when the plan is "
            "paid."
        )
    name = told.token.owner.first_name
    if told.token_owner_left:
        return (
            f"{name} left the team. The render continues at the service, but Reelroom cannot check "
            f"it without a token from {name}."
        )
    return (
        f"The render continues at the service. Reelroom can check it again when {name} adds a new "
        "token."
    )


def is_waiting_for_first_plan(told: VideoContext) -> bool:
    """Whether the token waits for a first plan: nothing lapsed."""
    return told.token.state == TokenState.PAUSED and told.job.account.plan == AccountPlan.TRIAL


def failure_reason(message: str) -> str:
    """The service's own words for a failure, in quotes."""
    return quote_text(message) if message.strip() else NO_REASON_TEXT


def last_paid_run(charges: list[Charge]) -> Charge | None:
    """The charge that paid for the latest run."""
    paid = [
        charge
        for charge in charges
        if charge.is_charged and charge.operation in JOB_STARTING_OPERATIONS
    ]
    return paid[-1] if paid else None


def completion_announcement(told: VideoContext) -> str:
    """What a finished video cost, for who cannot see the card."""
    done = "is done" if told.job.state == JobState.COMPLETED else told.state.label.lower()
    return f"{quote_text(told.job.title)} {done}, {credits(spent_credits(told.charges))} cr."
