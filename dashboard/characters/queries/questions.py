"""The price questions before a training, and before a preview if it costs anything."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.kinds import CHANGEABLE_STATES, KINDS
from proxyapi.models import Job, TokenState
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION

UNREADABLE_TEXT = "The token it was made with can no longer be decrypted. Add it again."
NOT_WORKING_TEXT = "The token it was made with does not work now. Add a new token first."
INCOMPLETE_TEXT = "Choose a picture, and fill in name, age and gender."
TRAINING_NOTICE = (
    "After the training the picture cannot be changed. If the training fails, the service promises "
    "no refund."
)
PREVIEW_NOTICE = "Each preview is charged, whether a picture fits or not."


def build_training_question(
    job: Job, reader: Membership, refusal: str, idempotency_key: UUID
) -> PriceQuestion:
    """At most eight queries, five of them for budgets."""
    price = pricing.fixed_price(job.account, TRAINING_OPERATION)
    is_sent = job.state not in CHANGEABLE_STATES or job.charges.starting_jobs().exists()
    is_incomplete = bool(KINDS[job.kind].preconditions(job.chosen_settings))
    draft = job.draft_or_none
    return build_question(
        job,
        reader,
        price,
        hold=price or Decimal(0),
        problems=[INCOMPLETE_TEXT if is_incomplete else ""],
        label="Train",
        title=job.title,
        is_exact=True,
        summary="The chosen picture becomes a character for every video of the team.",
        price_note="From the service’s price list",
        notice=TRAINING_NOTICE,
        url=reverse("character-training", args=[job.pk]),
        sent_url=reverse("character", args=[job.pk]) if is_sent else "",
        refusal=refusal,
        idempotency_key=idempotency_key,
        hidden_fields={"edited_at": draft.edited_at.isoformat() if draft else ""},
    )


def build_preview_question(
    job: Job, reader: Membership, refusal: str, idempotency_key: UUID
) -> PriceQuestion:
    price = pricing.listed_price_or_free(job.account, PREVIEW_OPERATION)
    return build_question(
        job,
        reader,
        price,
        hold=pricing.hold_for_operation(PREVIEW_OPERATION, price),
        problems=[],
        label="Preview",
        title=job.title,
        summary="Several pictures in the chosen genre.",
        price_note="From the service’s price list",
        notice=PREVIEW_NOTICE,
        url=reverse("character-previews", args=[job.pk]),
        refusal=refusal,
        idempotency_key=idempotency_key,
    )


def build_question(
    job: Job,
    reader: Membership,
    price: Decimal | None,
    *,
    hold: Decimal,
    problems: list[str],
    **texts: object,
) -> PriceQuestion:
    available = job.account.available_balance()
    unmet = (*problems, token_problem(job), credit_shortfall_text(available, hold))
    return PriceQuestion(
        price=price,
        hold=hold,
        available=available,
        budget=build_budget_impact(reader, hold),
        unmet=tuple(filter(None, unmet)),
        cancel_url=reverse("character", args=[job.pk]),
        **texts,  # type: ignore[arg-type]
    )


def token_problem(job: Job) -> str:
    """Why the character's token cannot send a request; empty if it can."""
    if job.account.pause_reason:
        return job.account.pause_reason
    if not token_vault.can_decrypt(job.token):
        return UNREADABLE_TEXT
    return "" if job.token.state == TokenState.WORKING else NOT_WORKING_TEXT
