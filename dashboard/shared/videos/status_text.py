"""The sentences about one video: what happened, its cost, what is next.

`status_summary` stands on a card, `status_detail` in the status card of the video's page. Plain
text: the service's own words stand in quotes and are escaped where they are printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from dashboard.shared.formatting import clock, credits, day, duration
from dashboard.shared.videos.cost import spent_credits
from dashboard.shared.videos.display_state import DisplayState
from dashboard.shared.videos.labels import operation_label, quote_text
from dashboard.shared.videos.progress import LATE_NOTE, render_elapsed_s
from proxyapi.models import AccountPlan, Charge, ChargeState, Job, JobState, Token, TokenState
from proxyapi.models.charge import CHARGED_LATE_CODE, MAX_CHARGE_CRASHES
from proxyapi.operations import JOB_STARTING_OPERATIONS, get_operation

SETTLEMENT_DEADLINE = timedelta(minutes=15)
NO_REFUND_TEXT = "the service does not refund renders by itself"
REFUND_EXPECTED_TEXT = "the service refunds them by itself"
NO_TRIALS_TEXT = "The service allows its API on paid plans only, not on trials."
STILL_READABLE_TEXT = "The balance and the ledger can be read meanwhile."
NO_REASON_TEXT = "The service gave no reason."


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


def status_summary(told: VideoContext) -> str:
    """One line or two for a card; empty where the picture and the bar say it all."""
    charge = told.open_charge
    if charge is not None and charge.state == ChargeState.UNKNOWN:
        sent = clock(charge.sent_at or charge.created_at)
        return (
            f"Sent {sent}, no answer came. It was not sent again, and {credits(charge.hold)} cr "
            "stay held until the ledger answers."
        )
    if charge is not None and charge.state == ChargeState.DRAFT:
        return f"{credits(charge.hold)} cr were asked for. The treasurer or the owner decides."
    if charge is not None and charge.state == ChargeState.HELD:
        return charge.reason or f"{credits(charge.hold)} cr are held, it is sent next."
    if told.state.name == "failed":
        return f"{failure_reason(told.job)} {refund_summary(told.charges)}".rstrip()
    if told.state.name == "paused":
        return pause_text(told)
    return told.last_reason


def status_detail(told: VideoContext) -> str:
    """The full sentences for the video's own page."""
    charge = told.open_charge
    if charge is not None:
        return open_charge_text(charge, told.now, told.job.account.pause_reason)
    match told.state.name:
        case "failed":
            return failure_text(told)
        case "late":
            return late_render_text(told)
        case "paused":
            return f"{pause_text(told)} {resume_text(told)}"
        case "running":
            return running_render_text(told)
        case "draft" if not told.last_reason:
            return "Not rendered yet. Nothing is charged before a price was shown."
    return told.last_reason


def is_long_unknown(charge: Charge, now: datetime) -> bool:
    """Whether its answer is lost for so long that it is seldom looked for, or not any more."""
    since = charge.sent_at or charge.created_at
    stopped = charge.failures >= MAX_CHARGE_CRASHES or now >= since + SETTLEMENT_DEADLINE
    return charge.state == ChargeState.UNKNOWN and stopped


def open_charge_text(charge: Charge, now: datetime, paused: str = "") -> str:
    """`paused`: why nobody reads it back now."""
    what = operation_label(charge.operation)
    if charge.state == ChargeState.UNKNOWN:
        sent_at = charge.sent_at or charge.created_at
        until = clock(sent_at + SETTLEMENT_DEADLINE)
        ending = f"the ledger decides, at the latest by {until}."
        if paused:
            ending = f"it is read back later. {paused}"
        elif is_long_unknown(charge, now):
            ending = "no entry of the ledger fits for certain. The treasurer or the owner decides."
        return (
            f"We do not know whether {credits(charge.price)} cr were spent. The {what} was "
            f"sent at {clock(sent_at)} and the answer got lost. It will not be sent again; {ending}"
        )
    if charge.state == ChargeState.DRAFT:
        return (
            f"Not sent: the budget has no room for it. {credits(charge.hold)} cr were asked for at "
            f"{clock(charge.created_at)}; the treasurer or the owner decides. Nothing is held."
        )
    held = f"{credits(charge.hold)} cr are held until the exact price is known."
    if charge.state == ChargeState.SENDING:
        doing = "writes the script" if what == "script" else f"gets the {what}"
        return f"The service {doing} now. {held}"
    return f"{charge.reason or f'The {what} is sent as soon as a worker is free.'} {held}"


def failure_text(told: VideoContext) -> str:
    spent = last_paid_run(told.charges)
    said = [failure_reason(told.job)]
    if spent is not None:
        said.append(f"{credits(spent.cost)} cr were charged; {refund_detail(spent)}.")
    if told.retry_price is not None:
        said.append(f"A retry costs about {credits(told.retry_price)} cr again.")
    return " ".join(said)


def refund_summary(charges: list[Charge]) -> str:
    """What becomes of the credits of a failed run, in two words; empty where none were spent."""
    spent = last_paid_run(charges)
    if spent is None:
        return ""
    if spent.refunded_at is not None:
        return "Refunded."
    return "Refund expected." if get_operation(spent.operation).refundable else "Not refunded."


def refund_detail(spent: Charge) -> str:
    if spent.refunded_at is not None:
        return f"they were refunded, ledger {clock(spent.refunded_at)}"
    return REFUND_EXPECTED_TEXT if get_operation(spent.operation).refundable else NO_REFUND_TEXT


def late_render_text(told: VideoContext) -> str:
    job = told.job
    if job.is_polling_stopped:
        return job.poll_error
    looked = duration((told.now - (job.polled_at or told.now)).total_seconds())
    every = ""
    if job.polled_at and job.next_poll_at and job.next_poll_at > job.polled_at:
        every = f", every {duration((job.next_poll_at - job.polled_at).total_seconds())}"
    return (
        f"{duration(render_elapsed_s(job, told.now))}, {LATE_NOTE}. It was still "
        f"{job.raw_status} {looked} "
        f"ago. It is not failed, and we go on looking{every}."
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
        return "Nothing is lost: watching goes on by itself then."
    if is_waiting_for_first_plan(told):
        return (
            f"{STILL_READABLE_TEXT} Watching is paused and goes on by itself when a plan is paid."
        )
    if told.token.state == TokenState.PAUSED:
        return "Nothing is lost: watching is paused and goes on by itself when the plan is paid."
    name = told.token.owner.first_name
    if told.token_owner_left:
        return (
            f"{name} left the team. The render goes on at the service, and Reelroom cannot check "
            f"it without a token of {name}."
        )
    return (
        f"The render goes on at the service; Reelroom sees it again when {name} adds a new token."
    )


def is_waiting_for_first_plan(told: VideoContext) -> bool:
    """Whether the token waits for a first plan: nothing lapsed."""
    return told.token.state == TokenState.PAUSED and told.job.account.plan == AccountPlan.TRIAL


def failure_reason(job: Job) -> str:
    return quote_text(job.failure_message) if job.failure_message.strip() else NO_REASON_TEXT


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
