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
from proxyapi.models import Job

UNREADABLE_TEXT = "The token it was made with can no longer be decrypted. Add it again."
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
    token_problem = "" if token_vault.can_decrypt(job.token) else UNREADABLE_TEXT
    return PriceQuestion(
        label="Retry",
        title=job.title,
        summary=failure_reason(job.failure_message),
        price=price,
        price_note=LAST_COST_NOTE if pricing.last_paid_render(job) else DRAFT_ESTIMATE_NOTE,
        hold=hold,
        available=available,
        budget=build_budget_impact(reader, hold),
        unmet=tuple(filter(None, [token_problem, credit_shortfall_text(available, hold)])),
        refusal=refusal,
        notice=RETRY_NOTICE,
        url=reverse("video-retries", args=[job.pk]),
        cancel_url=reverse("video", args=[job.pk]),
        # In the format that `retry_video` compares.
        hidden_fields={"failed_at": job.finished_at.isoformat() if job.finished_at else ""},
    )
