"""The price question before a retry: what failed, the approximate cost, and the credits left."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import prefetch_related_objects
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.shared.videos.status_text import failure_reason
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.models import Job, JobState, TokenState

UNREADABLE_TEXT = "The token it was made with can no longer be decrypted. Add it again."
NOT_WORKING_TEXT = "The token it was made with does not work now. Add a new token first."
LAST_COST_NOTE, DRAFT_ESTIMATE_NOTE = "Cost of the last run", "The estimate of the draft"
RETRY_NOTICE = (
    "A retry is charged again. If it fails too, the service does not refund it automatically."
)


def build_retry_question(job: Job, reader: Membership, refusal: str = "") -> PriceQuestion:
    """At most eight queries, five of them for budgets. A refused form gets a new key, because a
    failed charge may have the old one."""
    prefetch_related_objects([job], "charges")
    price, available = pricing.estimate_retry_price(job), job.account.available_balance()
    hold = pricing.hold_for_estimate(price) if price is not None else Decimal(0)
    is_in_progress = job.state != JobState.FAILED or any(
        charge.is_open for charge in job.charges.all()
    )
    problems = (token_problem(job), credit_shortfall_text(available, hold))
    return PriceQuestion(
        label="Retry",
        title=job.title,
        summary=failure_reason(job.failure_message),
        price=price,
        price_note=LAST_COST_NOTE if pricing.last_paid_render(job) else DRAFT_ESTIMATE_NOTE,
        hold=hold,
        available=available,
        budget=build_budget_impact(reader, hold),
        unmet=tuple(filter(None, problems)),
        refusal=refusal,
        notice=RETRY_NOTICE,
        url=reverse("video-retries", args=[job.pk]),
        cancel_url=reverse("video", args=[job.pk]),
        sent_url=reverse("video", args=[job.pk]) if is_in_progress else "",
        # In the format that `retry_video` compares.
        hidden_fields={"failed_at": job.finished_at.isoformat() if job.finished_at else ""},
    )


def token_problem(job: Job) -> str:
    """Why the job's token cannot send a retry; empty if it can."""
    if job.account.pause_reason:
        return job.account.pause_reason
    if not token_vault.can_decrypt(job.token):
        return UNREADABLE_TEXT
    return "" if job.token.state == TokenState.WORKING else NOT_WORKING_TEXT
