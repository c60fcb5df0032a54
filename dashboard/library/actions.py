"""Actions on videos of the library: retry, hide, restore."""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.charging import (
    PRICE_MISSING,
    require_job_state,
    require_shown_price,
    submit_charge,
)
from dashboard.shared.roles import Permission
from proxyapi import pricing
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge, Job, JobState
from proxyapi.operations import retry_operation_of
from proxyapi.refusals import NotReady, StaleData

NOT_RETRYABLE = "The service has no retry for this kind of video. Nothing was sent."
FAILURE_NOT_LATEST = (
    "Not sent. This video has failed again since you opened the dialog. Nothing was charged. The "
    "latest failure is shown above."
)


def retry_video(
    *,
    by: Membership,
    job: Job,
    nonce: UUID,
    seen: Decimal,
    failed_at: str,
    words: str | None = None,
) -> Charge:
    """Run a failed render again. It is charged again, at about the cost of the last run.

    `failed_at` is the time of the failure that was shown, ISO 8601; for another failure nothing is
    sent.
    """
    check_permission(by, Permission.RENDER)
    operation = retry_operation_of(job.kind)
    if operation is None:
        raise NotReady(NOT_RETRYABLE)
    quote = partial(quote_retry, job, seen, failed_at)
    return submit_charge(by, job, operation, nonce, quote, words=words)


def quote_retry(job: Job, seen: Decimal, failed_at: str) -> Decimal:
    """Return the price in credits; raise `Refusal` if nothing can be sent."""
    require_job_state(
        job, JobState.FAILED, "Only a failed render can be retried. This one did not fail."
    )
    require_latest_failure(failed_at, job)
    price = pricing.estimate_retry_price(job)
    if price is None:
        raise NotReady(PRICE_MISSING)
    require_shown_price(seen, price)
    return price


@transaction.atomic
def hide_video(*, by: Membership, job: Job) -> None:
    """Hide a video from the library. The service cannot delete it, and no credits are refunded."""
    check_permission(by, Permission.RENDER)
    Job.objects.filter(pk=job.pk).update(hidden_at=timezone.now())
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    record_audit_event(by, AuditAction.VIDEO_HIDE, job.pk)


@transaction.atomic
def unhide_video(*, by: Membership, job: Job) -> None:
    """Show a hidden video in the library again; a visible one stays unchanged."""
    check_permission(by, Permission.RENDER)
    if Job.objects.filter(pk=job.pk, hidden_at__isnull=False).update(hidden_at=None):
        publish_event(job.tenant_id, EventType.JOB, job.pk)
        record_audit_event(by, AuditAction.VIDEO_UNHIDE, job.pk)


def require_latest_failure(shown: str, job: Job) -> None:
    """Raise `StaleData` if the job has failed again since the shown failure, so that nobody pays
    for a failure they did not see. Only its time identifies a failure."""
    if shown != (job.finished_at.isoformat() if job.finished_at else ""):
        raise StaleData(FAILURE_NOT_LATEST)
