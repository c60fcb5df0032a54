"""The exports of a video, newest first, each with its state and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.parts.queries.part_durations import build_part_bar, usual_export_duration
from dashboard.parts.queries.scene_status import is_recent, unknown_text
from dashboard.parts.queries.scenes import PressedButton, PricedButton
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, parse_faceless_options
from dashboard.shared.videos.charge_status import charge_label
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount
from dashboard.shared.videos.display_state import upstream_status_label
from dashboard.shared.videos.labels import quote_text
from dashboard.shared.videos.parts import EXPORT, export_style_text, listed_price
from dashboard.shared.videos.progress import Freshness, RenderProgressBar, seconds_until
from proxyapi.models import Charge, ChargeState, Job, JobPart, JobState
from proxyapi.models.job_part import EXPORTS, PartState
from proxyapi.polling.duration_history import UsualDuration

OUTSIDE_NAME = "Export made outside the portal"
STATE_LABELS = {PartState.COMPLETED: "Completed", PartState.FAILED: "Failed"}
REPEAT_NOTE = "Exporting again is charged again."
NOT_CHARGED_NOTE = "Nothing was charged."


@dataclass(frozen=True, slots=True)
class ExportRow:
    """`id` is the part's, or the charge's as long as no part is known."""

    id: UUID
    name: str
    state: str
    label: str
    meta: str
    cost: CreditAmount | None
    text: str = ""
    quote: str = ""
    note: str = ""
    bar: RenderProgressBar | None = None
    fresh: Freshness | None = None
    still_url: str = ""
    play_url: str = ""
    download_url: str = ""
    again: PricedButton | None = None
    edit_url: str = ""
    recheck_url: str = ""


def load_exports(
    job: Job, reader: Membership, pressed: PressedButton | None = None
) -> dict[str, Any]:
    """Four queries. `pressed` is the export whose repetition was refused."""
    job = Job.objects.select_related("account").get(pk=job.pk)
    charges = list(job.charges.filter(operation=EXPORT).select_related("member"))
    parts = list(job.parts.filter(list_name=EXPORTS))
    now, options = timezone.now(), parse_faceless_options(job.account.options)
    usual = usual_export_duration(job) if parts else UsualDuration()
    by_id = {charge.pk: charge for charge in charges}
    can_export = has_permission(reader, Permission.RENDER) and job.state == JobState.COMPLETED
    # Reading stops after a day, until a person requests it.
    can_recheck = (
        has_permission(reader, Permission.RECHECK)
        and job.parts_due_at is None
        and job.state != JobState.RUNNING
    )
    dated = []
    for part in parts:
        charge = by_id.pop(part.charge_id, None) if part.charge_id else None
        again = None
        if can_export and charge is not None and part.state == PartState.FAILED:
            again = repeat_button(job, part, pressed)
        row = build_export_row(
            job, part, charge, options, usual, now, again, can_recheck=can_recheck
        )
        dated.append((charge.created_at if charge else part.created_at, row))
    for charge in by_id.values():
        if pending := build_charge_row(charge, options, now):
            dated.append((charge.created_at, pending))
    dated.sort(key=lambda pair: pair[0], reverse=True)
    return {
        "id": job.pk,
        "url": reverse("exports", args=[job.pk]),
        "video_url": reverse("video", args=[job.pk]),
        "title": job.title,
        "rows": tuple(row for _, row in dated),
    }


def repeat_button(job: Job, part: JobPart, pressed: PressedButton | None) -> PricedButton:
    price, _ = listed_price(job, EXPORT)
    return PricedButton(
        url=reverse("export-repeats", args=[job.pk, part.pk]),
        price=CreditAmount(price) if price is not None else None,
        disabled_reason="" if price is not None else "The service’s price list has no price.",
        refusal=pressed.refusal if pressed and pressed.part_id == part.pk else None,
    )


def build_export_row(
    job: Job,
    part: JobPart,
    charge: Charge | None,
    options: FacelessOptions,
    usual: UsualDuration,
    now: datetime,
    again: PricedButton | None,
    *,
    can_recheck: bool,
) -> ExportRow:
    started_at = (charge.sent_at if charge else None) or part.created_at
    took = duration(((part.finished_at or now) - started_at).total_seconds())
    who = f"{charge.member.first_name}, " if charge else ""
    media_url = reverse("part-media", args=[job.pk, part.pk])
    completed, failed = part.state == PartState.COMPLETED, part.state == PartState.FAILED
    ending = f", took {took}" if completed else f", failed after {took}" if failed else ""
    running = part.state == PartState.RUNNING
    return ExportRow(
        id=part.pk,
        name=export_style_text(charge.body, options) if charge else OUTSIDE_NAME,
        state=part.state,
        label=STATE_LABELS.get(part.state) or upstream_status_label(part.status),
        meta=f"{who}{clock(started_at)}{ending}",
        cost=export_cost(charge),
        quote=quote_text(part.failure_message or "The service gave no reason.") if failed else "",
        note=failed_export_note(charge) if failed else "",
        bar=build_part_bar(started_at, now, usual) if running else None,
        fresh=part_freshness(job, part, now) if running else None,
        still_url=f"{media_url}?still=1#t=1.2" if completed else "",
        play_url=reverse("export", args=[job.pk, part.pk]) if completed else "",
        download_url=f"{media_url}?download=1" if completed else "",
        again=again,
        recheck_url=reverse("video-checks", args=[job.pk]) if running and can_recheck else "",
        edit_url=f"{reverse('export-new', args=[job.pk])}?like={part.pk}" if again else "",
    )


def export_cost(charge: Charge | None) -> CreditAmount | None:
    if charge is None:
        return None
    return FREE_AMOUNT if charge.is_charged and not charge.cost else charge_amount(charge)


def part_freshness(job: Job, part: JobPart, now: datetime) -> Freshness:
    """When the export was checked, and when the next check is due."""
    next_check_s = seconds_until(job.parts_due_at or job.next_poll_at, now)
    age_s = max(0.0, (now - part.read_at).total_seconds())
    if job.parts_due_at is None and job.state != JobState.RUNNING:
        return Freshness(age_s, last_status=part.status or "in progress")
    return Freshness(age_s=age_s, next_check_s=next_check_s)


def failed_export_note(charge: Charge | None) -> str:
    if charge is None or not charge.cost:
        return REPEAT_NOTE
    refund = "refunded" if charge.refunded_at else "no refund seen"
    return f"{credits(charge.cost)} cr were charged, {refund}. {REPEAT_NOTE}"


def build_charge_row(charge: Charge, options: FacelessOptions, now: datetime) -> ExportRow | None:
    """An export that the record does not show: it is being sent, its outcome is unknown, or it was
    refused lately."""
    if charge.is_charged or (not charge.is_open and not is_recent(charge, now)):
        return None
    meta = f"{charge.member.first_name}, {clock(charge.sent_at or charge.created_at)}"
    name, cost = export_style_text(charge.body, options), charge_amount(charge)
    if not charge.is_open:
        return ExportRow(
            charge.pk, name, "failed", "Not exported", meta, cost, quote=charge.reason,
            note=NOT_CHARGED_NOTE,
        )  # fmt: skip
    texts = charge_label(charge)
    text = charge.reason
    if charge.state == ChargeState.UNKNOWN and not charge.applied_at:
        text = unknown_text(charge, now)
    return ExportRow(charge.pk, name, texts.glyph, texts.label, meta, cost, text=text)
