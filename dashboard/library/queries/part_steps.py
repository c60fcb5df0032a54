"""The steps of a video's history that concern its parts: exports by their captions, new images and
own media together."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from dashboard.library.queries.history_step import HistoryStep
from dashboard.shared.formatting import clock, duration
from dashboard.shared.video_options import parse_faceless_options
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount, spent_credits
from dashboard.shared.videos.display_state import upstream_status_label
from dashboard.shared.videos.parts import EXPORT, NEW_IMAGE, OWN_MEDIA, export_style_text
from dashboard.shared.videos.status_text import VideoContext, failure_reason
from proxyapi.models import Charge, JobPart
from proxyapi.models.job_part import PartState

PART_NAMES = {NEW_IMAGE: "New image", OWN_MEDIA: "Own media", EXPORT: "Export"}
NOT_RENDERED_NOTE = "not rendered yet"


def build_part_steps(context: VideoContext) -> list[HistoryStep]:
    """Return the steps of the charged ones, in the order of their sending."""
    charged = [charge for charge in context.charges if charge.is_charged]
    steps = [
        (charge.sent_at or charge.created_at, export_step(charge, context))
        for charge in charged
        if charge.operation == EXPORT
    ]
    for operation, several in ((NEW_IMAGE, "New images"), (OWN_MEDIA, "Own media")):
        same = [charge for charge in charged if charge.operation == operation]
        if same:
            name = PART_NAMES[operation] if len(same) == 1 else f"{several}, {len(same)}"
            steps.append((same[0].sent_at or same[0].created_at, images_step(name, same, context)))
    return [step for _, step in sorted(steps, key=lambda pair: pair[0])]


def images_step(name: str, charges: Sequence[Charge], context: VideoContext) -> HistoryStep:
    """One step for all, with the time of the first and whether the video shows the last."""
    spent, last = spent_credits(charges), charges[-1].applied_at
    started_at = context.job.started_at
    is_shown = last is None or (started_at is not None and last < started_at)
    meta = f"{'from ' if len(charges) > 1 else ''}{clock(charges[0].sent_at)}"
    meta += "" if is_shown else f", {NOT_RENDERED_NOTE}"
    amount = CreditAmount(spent) if spent != Decimal(0) else FREE_AMOUNT
    return HistoryStep("completed", name, amount, meta)


def export_step(charge: Charge, context: VideoContext) -> HistoryStep:
    options = parse_faceless_options(context.job.account.options)
    part = next((row for row in context.job.parts.all() if row.charge_id == charge.pk), None)
    return HistoryStep(
        part.state if part else "completed",
        f"Export “{export_style_text(charge.body, options)}”" if charge.body else "Export",
        charge_amount(charge) if charge.cost else FREE_AMOUNT,
        f"{clock(charge.sent_at)}{export_outcome(charge, part)}",
        failure_reason(part.failure_message) if part and part.state == PartState.FAILED else "",
        branch=True,
    )


def export_outcome(charge: Charge, part: JobPart | None) -> str:
    if part is None:
        return ""
    if part.state == PartState.RUNNING:
        return f", {upstream_status_label(part.status).lower()}"
    since = charge.sent_at or part.created_at
    took = duration(((part.finished_at or part.read_at) - since).total_seconds())
    return f", failed after {took}" if part.state == PartState.FAILED else f", done in {took}"
