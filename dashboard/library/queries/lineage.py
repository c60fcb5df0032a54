"""How a video came to be: draft, script, render, retry, exports, each with cost and outcome."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.videos.charge_status import charge_label, refund_texts
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount
from dashboard.shared.videos.progress import render_elapsed_s
from dashboard.shared.videos.status_text import VideoContext, failure_reason
from proxyapi.models import Charge, JobState
from proxyapi.models.charge import CHARGED_LATE_CODE
from proxyapi.operations import JOB_STARTING_OPERATIONS, SCRIPT_OPERATIONS

NOT_CHARGED_TEXT = "not done, nothing was charged"


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """One step. `quote`: the service's reason; `code`: for its support; `current`: it plays."""

    state: str
    name: str
    amount: CreditAmount
    meta: str
    quote: str = ""
    code: str = ""
    note: str = ""
    current: bool = False
    branch: bool = False


def build_video_history(told: VideoContext) -> tuple[HistoryStep, ...]:
    charges = told.charges
    runs = [
        charge
        for charge in charges
        if charge.operation in JOB_STARTING_OPERATIONS and charge.is_charged
    ]
    nodes = [draft_history_step(told)]
    if not any(charge.operation in SCRIPT_OPERATIONS and charge.is_charged for charge in charges):
        nodes += own_script_history_steps(told)
    for charge in charges:
        if charge.operation in SCRIPT_OPERATIONS:
            nodes.append(script_history_step(charge, told))
        elif not charge.is_charged:
            nodes.append(unspent_history_step(charge))
        elif charge.operation in JOB_STARTING_OPERATIONS:
            nodes.append(render_history_step(charge, told, after=next_run_after(charge, runs)))
        else:
            nodes.append(extra_history_step(charge))
    return tuple(nodes)


def draft_history_step(told: VideoContext) -> HistoryStep:
    job = told.job
    return HistoryStep(
        "completed",
        "Draft" if job.draft_or_none else "Created",
        FREE_AMOUNT,
        f"{job.member.first_name}, {clock(job.created_at)}",
    )


def own_script_history_steps(told: VideoContext) -> list[HistoryStep]:
    words = len(str(told.job.chosen_settings.get("script") or "").split())
    if not words:
        return []
    return [HistoryStep("completed", f"Script, {words:,} words", FREE_AMOUNT, "Own script")]


def script_history_step(charge: Charge, told: VideoContext) -> HistoryStep:
    if not charge.is_charged:
        return unspent_history_step(charge, "Script")
    parts = ["Script"]
    if charge.body.get("duration"):
        parts.append(duration(int(charge.body["duration"])))
    if (
        charge
        is [one for one in told.charges if one.operation in SCRIPT_OPERATIONS and one.is_charged][
            -1
        ]
    ):
        parts.append(f"{len(str(told.job.chosen_settings.get('script') or '').split()):,} words")
    meta = f"Written by the service, {clock(charge.settled_at or charge.created_at)}"
    return HistoryStep("completed", ", ".join(parts), charge_amount(charge), meta)


def unspent_history_step(charge: Charge, name: str = "") -> HistoryStep:
    """A charge that is open, or came to nothing."""
    name = name or feature_label(charge.operation)
    when = clock(charge.sent_at or charge.created_at)
    if charge.is_open:
        texts = charge_label(charge)
        return HistoryStep(texts.glyph, name, charge_amount(charge), f"{when}, {texts.note}")
    return HistoryStep(
        "failed",
        name,
        charge_amount(charge),
        f"{when}, {NOT_CHARGED_TEXT}",
        charge.reason,
        charge.code,
    )


def next_run_after(charge: Charge, runs: list[Charge]) -> Charge | None:
    """The run that came after this one, if any did."""
    return next((run for run in runs[runs.index(charge) + 1 :]), None)


def render_history_step(charge: Charge, told: VideoContext, *, after: Charge | None) -> HistoryStep:
    """A paid run. One that was retried had failed; the retry kept what was said of it."""
    job, name = told.job, feature_label(charge.operation)
    when = clock(charge.sent_at or charge.created_at)
    if after is not None and charge.code == CHARGED_LATE_CODE:
        return HistoryStep(
            "late", name, charge_amount(charge), f"{when}, charged late", charge.reason
        )
    if after is not None:
        said = after.before.get("failure") or {}
        quote = failure_reason(said.get("message") or "")
        code = said.get("code", "")
        return HistoryStep(
            "failed",
            name,
            charge_amount(charge),
            f"{when}, failed",
            quote,
            code,
            refund_texts(charge).sentence,
        )
    took = duration(render_elapsed_s(job, told.now))
    if job.state == JobState.COMPLETED:
        meta = f"{when}, done in {took}"
        return HistoryStep("completed", name, charge_amount(charge), meta, current=True)
    if job.state == JobState.FAILED:
        quote = failure_reason(job.failure_message)
        meta, note = (
            f"{when}, failed after {took}",
            f"{refund_texts(charge).sentence} {retry_price_note(told)}".strip(),
        )
        return HistoryStep(
            "failed", name, charge_amount(charge), meta, quote, job.failure_code, note
        )
    meta = f"{when}, {told.state.label.lower() if told.open_charge is None else 'rendering'}"
    return HistoryStep(told.state.name, name, charge_amount(charge), meta)


def retry_price_note(told: VideoContext) -> str:
    """Where a retry's price comes from."""
    if told.retry_price is None:
        return ""
    price = credits(told.retry_price)
    return f"The service gives no price for a retry. The last run cost {price} cr."


def extra_history_step(charge: Charge) -> HistoryStep:
    meta = clock(charge.settled_at or charge.created_at)
    return HistoryStep(
        "completed", feature_label(charge.operation), charge_amount(charge), meta, branch=True
    )
