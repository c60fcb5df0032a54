"""The price questions before an export and before a new render of a finished video."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import prefetch_related_objects
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.formatting import clock, credits
from dashboard.shared.job_question import build_job_question
from dashboard.shared.price_question import GUESSED_PRICE_NOTE, PriceQuestion
from dashboard.shared.videos.parts import EXPORT, listed_price
from proxyapi import pricing
from proxyapi.models import Job, JobState
from proxyapi.operations import PART_OPERATIONS

NO_FILM_TEXT = "Only a completed video can be exported."
EXPORT_PENDING_TEXT = "Another export of this video is being sent."
EXPORT_HEADING = "Export a restyled cut"
EXPORT_SUMMARY = "Same pictures and voice, other captions. The video itself stays as it is."
EXPORT_NOTICE = "If the export fails, the service promises no refund."
FREE_EXPORTS_TEXT = (
    "The first {count} on this account are free at the service. Reelroom cannot see how many are "
    "left, so {price} cr are held and the ledger decides. "
)
RENDER_NOTICE = (
    "It is charged again, and the new video replaces the present one. If the render fails, the "
    "service promises no refund."
)


def build_export_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most eight queries, five of them for budgets."""
    prefetch_related_objects([job], "charges")
    price, free_uses = listed_price(job, EXPORT)
    pending = any(charge.operation == EXPORT and charge.is_open for charge in job.charges.all())
    problems = [
        NO_FILM_TEXT if job.state != JobState.COMPLETED else "",
        EXPORT_PENDING_TEXT if pending else "",
    ]
    free_text = ""
    if free_uses and price is not None:
        free_text = FREE_EXPORTS_TEXT.format(count=free_uses, price=credits(price))
    read_at = clock(job.account.refreshed_at) if job.account.refreshed_at else ""
    price_note = f"From the service’s price list{f', read {read_at}' if read_at else ''}"
    guessed_key = pricing.guessed_cost_map_key(job.account, EXPORT)
    return build_job_question(
        job,
        reader,
        price,
        hold=price or Decimal(0),
        problems=problems,
        label="Export",
        heading=EXPORT_HEADING,
        choices_template="parts/_export_choices.html",
        is_exact=not guessed_key,
        free_uses=free_uses,
        summary=EXPORT_SUMMARY,
        price_note=GUESSED_PRICE_NOTE.format(key=guessed_key) if guessed_key else price_note,
        notice=f"{free_text}{EXPORT_NOTICE}",
        url=reverse("export-new", args=[job.pk]),
    )


def build_new_render_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most eight queries, five of them for budgets."""
    prefetch_related_objects([job], "charges")
    price = pricing.estimate_retry_price(job)
    open_parts = [
        charge for charge in job.charges.all()
        if charge.is_open and charge.operation in PART_OPERATIONS
    ]  # fmt: skip
    is_sent = job.state == JobState.RUNNING or any(
        charge.is_open and charge not in open_parts for charge in job.charges.all()
    )
    return build_job_question(
        job,
        reader,
        price,
        hold=pricing.hold_for_estimate(price) if price is not None else Decimal(0),
        problems=["Requests for images or exports are still open." if open_parts else ""],
        label="Render again",
        summary="With the images as they are now.",
        price_note="Cost of the last render",
        notice=RENDER_NOTICE,
        url=reverse("new-renders", args=[job.pk]),
        sent_url=reverse("video", args=[job.pk]) if is_sent else "",
    )
