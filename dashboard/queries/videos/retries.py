"""The question before a retry: what failed, about what it costs, what stays free."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.urls import reverse

from dashboard.queries.videos.acts import RUNS, retry_price
from dashboard.queries.videos.sayings import reason
from proxyapi import costs
from proxyapi.models import Job

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Retry:
    """Credits, all of them; without a price there is no button. Each drawing has its own nonce."""

    title: str
    failed: str
    price: Decimal | None
    price_note: str
    hold: Decimal
    free: Decimal
    url: str
    back_url: str
    nonce: UUID
    refusal: str = ""

    @property
    def left(self) -> Decimal:
        """What stays free, at least: the hold is an upper bound."""
        return self.free - self.hold


def retry_of(job: Job, refusal: str = "") -> Retry:
    """Two queries. A refused one gets a new nonce: the old one may stand on a failed charge."""
    charges = list(job.charges.order_by("created_at", "pk"))
    price = retry_price(job, charges)
    ran = any(charge.is_spent and charge.operation in RUNS for charge in charges)
    return Retry(
        title=job.title,
        failed=reason(job),
        price=price,
        price_note="What it took last time" if ran else "The estimate of the draft",
        hold=costs.hold_for(price) if price is not None else NOTHING,
        free=job.account.free_to_spend(),
        url=reverse("video-retries", args=[job.pk]),
        back_url=reverse("video", args=[job.pk]),
        nonce=uuid.uuid4(),
        refusal=refusal,
    )
