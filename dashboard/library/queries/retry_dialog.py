"""The question before a retry: what failed, about what it costs, what stays free."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.shared.videos.status_text import failure_reason
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.models import Job

ZERO_CREDITS = Decimal(0)
UNREADABLE_TEXT = "The token it was made with does not open any more. It can be added again."
LAST_COST_NOTE, DRAFT_ESTIMATE_NOTE = "What it took last time", "The estimate of the draft"


@dataclass(frozen=True, slots=True)
class RetryConfirmation:
    """Credits, all of them; without a price there is no button. Each drawing has its own nonce."""

    title: str
    failure_text: str
    failed_at: str  # as `actions.studio.retry` compares it
    price: Decimal | None
    price_note: str
    hold: Decimal
    available: Decimal
    url: str
    back_url: str
    nonce: UUID
    budget: BudgetImpact | None = None
    refusal: str = ""
    token_problem: str = ""  # why the service cannot be asked with its token

    @property
    def is_over_budget(self) -> bool:
        """Whether the budget refuses it, so that it can only be asked for."""
        if self.price is None or self.token_problem:
            return False
        return self.budget is not None and bool(self.budget.refusal)

    @property
    def unmet(self) -> tuple[str, ...]:
        """Why it cannot be sent now; no button then."""
        return tuple(
            filter(None, [self.token_problem, credit_shortfall_text(self.available, self.hold)])
        )

    @property
    def remaining(self) -> Decimal:
        """What stays free, at least: the hold is an upper bound."""
        return self.available - self.hold


def build_retry_confirmation(job: Job, reader: Membership, refusal: str = "") -> RetryConfirmation:
    """At most eight queries, five of them where budgets bind. A refused one gets a new nonce: the
    old one may stand on a failed charge."""
    prefetch_related_objects([job], "charges")
    price = pricing.estimate_retry_price(job)
    hold = pricing.hold_for_estimate(price) if price is not None else ZERO_CREDITS
    return RetryConfirmation(
        title=job.title,
        failure_text=failure_reason(job),
        failed_at=job.finished_at.isoformat() if job.finished_at else "",
        price=price,
        price_note=LAST_COST_NOTE if pricing.last_paid_render(job) else DRAFT_ESTIMATE_NOTE,
        hold=hold,
        available=job.account.available_balance(),
        url=reverse("video-retries", args=[job.pk]),
        back_url=reverse("video", args=[job.pk]),
        nonce=uuid.uuid4(),
        budget=build_budget_impact(reader, hold),
        refusal=refusal,
        token_problem="" if token_vault.can_decrypt(job.token) else UNREADABLE_TEXT,
    )
