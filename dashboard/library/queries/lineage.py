"""The history of a video: draft, script, render, retry and exports, each with cost and outcome."""

from __future__ import annotations

from dashboard.library.queries.history_step import HistoryStep
from dashboard.library.queries.part_steps import PART_NAMES, build_part_steps
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.videos.cards import spent_before_import
from dashboard.shared.videos.charge_status import charge_label, refund_texts
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount
from dashboard.shared.videos.labels import maker_text
from dashboard.shared.videos.progress import render_elapsed_s
from dashboard.shared.videos.status_text import VideoContext, failure_reason
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Charge, JobState
from proxyapi.models.charge import CHARGED_LATE_CODE
from proxyapi.operations import JOB_STARTING_OPERATIONS, PART_OPERATIONS, SCRIPT_OPERATIONS

DEBITS_BY_TITLE = "Importing is free. The credits are those of the debits that have its title."
NO_DEBIT_BY_TITLE = (
    "Importing is free. What the video cost before is not known: no debit in the ledger has its "
    "title alone."
)
NOT_CHARGED_TEXT = "not done, nothing was charged"


def build_video_history(context: VideoContext) -> tuple[HistoryStep, ...]:
    charges = context.charges
    runs = [
        charge
        for charge in charges
        if charge.operation in JOB_STARTING_OPERATIONS and charge.is_charged
    ]
    steps = [draft_history_step(context)]
    if not any(charge.operation in SCRIPT_OPERATIONS and charge.is_charged for charge in charges):
        steps += own_script_history_steps(context)
    for charge in charges:
        is_of_part = charge.operation in PART_OPERATIONS and charge.is_charged
        if is_of_part and charge.operation != SCENE_CLIPS_OPERATION:
            continue
        if charge.operation in SCRIPT_OPERATIONS:
            steps.append(script_history_step(charge, context))
        elif not charge.is_charged:
            steps.append(unspent_history_step(charge))
        elif charge.operation in JOB_STARTING_OPERATIONS:
            steps.append(render_history_step(charge, context, after=next_run_after(charge, runs)))
        else:
            steps.append(extra_history_step(charge))
    return (*steps, *build_part_steps(context))


def imported_history_step(context: VideoContext) -> HistoryStep:
    """What the ledger shows of an imported video."""
    job, spent = context.job, spent_before_import(context.job)
    amount = CreditAmount(spent, "about") if spent else FREE_AMOUNT
    return HistoryStep(
        "completed",
        f"Imported, ID {job.remote_id}",
        amount,
        f"{job.member.first_name}, {clock(job.created_at)}",
        note=DEBITS_BY_TITLE if spent else NO_DEBIT_BY_TITLE,
    )


def draft_history_step(context: VideoContext) -> HistoryStep:
    job = context.job
    if job.is_imported:
        return imported_history_step(context)
    return HistoryStep(
        "completed",
        "Draft" if job.draft_or_none else "Created",
        FREE_AMOUNT,
        f"{maker_text(job)}, {clock(job.created_at)}",
    )


def own_script_history_steps(context: VideoContext) -> list[HistoryStep]:
    words = len(str(context.job.chosen_settings.get("script") or "").split())
    if not words:
        return []
    return [HistoryStep("completed", f"Script, {words:,} words", FREE_AMOUNT, "Own script")]


def script_history_step(charge: Charge, context: VideoContext) -> HistoryStep:
    if not charge.is_charged:
        return unspent_history_step(charge, "Script")
    parts = ["Script"]
    if charge.body.get("duration"):
        parts.append(duration(int(charge.body["duration"])))
    if (
        charge
        is [
            row for row in context.charges if row.operation in SCRIPT_OPERATIONS and row.is_charged
        ][-1]
    ):
        parts.append(f"{len(str(context.job.chosen_settings.get('script') or '').split()):,} words")
    meta = f"Written by the service, {clock(charge.settled_at or charge.created_at)}"
    return HistoryStep("completed", ", ".join(parts), charge_amount(charge), meta)


def unspent_history_step(charge: Charge, name: str = "") -> HistoryStep:
    """Return the step of a charge that is open or was not charged."""
    name = name or PART_NAMES.get(charge.operation) or feature_label(charge.operation)
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
    """Return the run after this one; None for the last."""
    return next((run for run in runs[runs.index(charge) + 1 :]), None)


def render_history_step(
    charge: Charge, context: VideoContext, *, after: Charge | None
) -> HistoryStep:
    """Return the step of a charged run. A retried run had failed; the retry's charge keeps that
    failure."""
    job, name = context.job, feature_label(charge.operation)
    when = clock(charge.sent_at or charge.created_at)
    if after is not None and charge.code == CHARGED_LATE_CODE:
        return HistoryStep(
            "late", name, charge_amount(charge), f"{when}, charged late", charge.reason
        )
    if after is not None:
        failure = after.before.get("failure") or {}
        quote = failure_reason(failure.get("message") or "")
        code = failure.get("code", "")
        return HistoryStep(
            "failed",
            name,
            charge_amount(charge),
            f"{when}, failed",
            quote,
            code,
            refund_texts(charge, context.now).sentence,
        )
    took = duration(render_elapsed_s(job, context.now))
    if job.state == JobState.COMPLETED:
        meta = f"{when}, done in {took}"
        return HistoryStep("completed", name, charge_amount(charge), meta, current=True)
    if job.state == JobState.FAILED:
        quote = failure_reason(job.failure_message)
        meta, note = (
            f"{when}, failed after {took}",
            f"{refund_texts(charge, context.now).sentence} {retry_price_note(context)}".strip(),
        )
        return HistoryStep(
            "failed", name, charge_amount(charge), meta, quote, job.failure_code, note
        )
    meta = f"{when}, {context.state.label.lower() if context.open_charge is None else 'rendering'}"
    return HistoryStep(context.state.name, name, charge_amount(charge), meta)


def retry_price_note(context: VideoContext) -> str:
    """Return where the price of a retry comes from."""
    if context.retry_price is None:
        return ""
    price = credits(context.retry_price)
    return f"The service gives no price for a retry. The last run cost {price} cr."


def extra_history_step(charge: Charge) -> HistoryStep:
    meta = clock(charge.settled_at or charge.created_at)
    return HistoryStep(
        "completed", feature_label(charge.operation), charge_amount(charge), meta, branch=True
    )
