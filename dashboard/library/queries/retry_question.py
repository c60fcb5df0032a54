"""The price question before a retry: what failed, the approximate cost, and the credits left."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import prefetch_related_objects
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.job_question import build_job_question
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.videos.status_text import failure_reason, stalled_summary
from proxyapi import pricing
from proxyapi.models import Job, JobState

STALLED_NOTICE = (
    "The service may still finish the run that no longer seems to move. A retry is charged again, "
    "and both may be charged."
)
LAST_COST_NOTE, DRAFT_ESTIMATE_NOTE = "Cost of the last run", "The estimate of the draft"
RETRY_NOTICE = "A retry is charged again. If it fails too, the service promises no refund."


def build_retry_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most eight queries, five of them for budgets. A refused form gets a new key, because a
    failed charge may have the old one."""
    prefetch_related_objects([job], "charges")
    price = pricing.estimate_retry_price(job)
    is_in_progress = not (job.state == JobState.FAILED or job.is_stalled) or any(
        charge.is_open for charge in job.charges.all()
    )
    return build_job_question(
        job,
        reader,
        price,
        hold=pricing.hold_for_estimate(price) if price is not None else Decimal(0),
        label="Retry",
        summary=(
            stalled_summary(job, timezone.now())
            if job.is_stalled
            else failure_reason(job.failure_message)
        ),
        price_note=LAST_COST_NOTE if pricing.last_paid_render(job) else DRAFT_ESTIMATE_NOTE,
        notice=STALLED_NOTICE if job.is_stalled else RETRY_NOTICE,
        url=reverse("video-retries", args=[job.pk]),
        sent_url=reverse("video", args=[job.pk]) if is_in_progress else "",
        # In the format that `retry_video` compares.
        hidden_fields={"failed_at": job.last_run_at.isoformat() if job.last_run_at else ""},
    )
