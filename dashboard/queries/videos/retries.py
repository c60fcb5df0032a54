"""The question before a retry: what failed, about what it costs, what stays free."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import prefetch_related_objects
from django.urls import reverse

from dashboard.models import Membership
from dashboard.queries.budgets.line import Line, line_of
from dashboard.queries.purse import lacking
from dashboard.queries.videos.sayings import reason
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.models import Job

NOTHING = Decimal(0)
SHUT = "The token it was made with does not open any more. It can be added again."
TOOK, ESTIMATED = "What it took last time", "The estimate of the draft"


@dataclass(frozen=True, slots=True)
class Retry:
    """Credits, all of them; without a price there is no button. Each drawing has its own nonce."""

    title: str
    failed: str
    failed_at: str  # as `actions.studio.retry` compares it
    price: Decimal | None
    price_note: str
    hold: Decimal
    free: Decimal
    url: str
    back_url: str
    nonce: UUID
    budget: Line | None = None
    refusal: str = ""
    shut: str = ""  # why the service cannot be asked with its token

    @property
    def over(self) -> bool:
        """Whether the budget refuses it, so that it can only be asked for."""
        if self.price is None or self.shut:
            return False
        return self.budget is not None and bool(self.budget.over)

    @property
    def unmet(self) -> tuple[str, ...]:
        """Why it cannot be sent now; no button then."""
        return tuple(filter(None, [self.shut, lacking(self.free, self.hold)]))

    @property
    def left(self) -> Decimal:
        """What stays free, at least: the hold is an upper bound."""
        return self.free - self.hold


def retry_of(job: Job, reader: Membership, refusal: str = "") -> Retry:
    """At most eight queries, five of them where budgets bind. A refused one gets a new nonce: the
    old one may stand on a failed charge."""
    prefetch_related_objects([job], "charges")
    price = pricing.estimate_retry_price(job)
    hold = pricing.hold_for_estimate(price) if price is not None else NOTHING
    return Retry(
        title=job.title,
        failed=reason(job),
        failed_at=job.finished_at.isoformat() if job.finished_at else "",
        price=price,
        price_note=TOOK if pricing.last_paid_render(job) else ESTIMATED,
        hold=hold,
        free=job.account.available_balance(),
        url=reverse("video-retries", args=[job.pk]),
        back_url=reverse("video", args=[job.pk]),
        nonce=uuid.uuid4(),
        budget=line_of(reader, hold),
        refusal=refusal,
        shut="" if token_vault.can_decrypt(job.token) else SHUT,
    )
