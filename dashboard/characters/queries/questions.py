"""The price questions before a training, and before a preview if it costs anything."""

from __future__ import annotations

from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.job_question import build_job_question
from dashboard.shared.price_question import PriceQuestion
from proxyapi import pricing
from proxyapi.kinds import CHANGEABLE_STATES, KINDS
from proxyapi.models import Job
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION

INCOMPLETE_TEXT = "Choose a picture, and fill in name, age and gender."
TRAINING_NOTICE = (
    "After the training the picture cannot be changed. If the training fails, the service promises "
    "no refund."
)
PREVIEW_NOTICE = "Each preview is charged, whether a picture fits or not."


def build_training_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most eight queries, five of them for budgets."""
    price = pricing.fixed_price(job.account, TRAINING_OPERATION)
    is_sent = job.state not in CHANGEABLE_STATES or job.charges.starting_jobs().exists()
    is_incomplete = bool(KINDS[job.kind].preconditions(job.chosen_settings))
    draft = job.draft_or_none
    return build_job_question(
        job,
        reader,
        price,
        hold=price or Decimal(0),
        problems=[INCOMPLETE_TEXT if is_incomplete else ""],
        label="Train",
        is_exact=True,
        summary="The chosen picture becomes a character for every video of the team.",
        price_note="From the service’s price list",
        notice=TRAINING_NOTICE,
        url=reverse("character-training", args=[job.pk]),
        sent_url=reverse("character", args=[job.pk]) if is_sent else "",
        hidden_fields={"edited_at": draft.edited_at.isoformat() if draft else ""},
    )


def build_preview_question(job: Job, reader: Membership) -> PriceQuestion:
    price = pricing.listed_price_or_free(job.account, PREVIEW_OPERATION)
    return build_job_question(
        job,
        reader,
        price,
        hold=pricing.hold_for_operation(PREVIEW_OPERATION, price),
        label="Preview",
        summary="Several pictures in the chosen genre.",
        price_note="From the service’s price list",
        notice=PREVIEW_NOTICE,
        url=reverse("character-previews", args=[job.pk]),
    )
