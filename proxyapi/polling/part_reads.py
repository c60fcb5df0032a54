"""Read the parts of a job that no poll reads: exports, and new images of a finished video.

A video stays completed while an export of it is made, so its job is not polled. `Job.parts_due_at`
is when its record is read for them next; a sweep finds it (rule 7), and it is null once nothing is
in progress. A read that fails changes only that time (rule 6).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max, Q
from django.utils import timezone

from proxyapi import calls
from proxyapi.backoff import Backoff, add_jitter
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS
from proxyapi.models import Job, JobState
from proxyapi.models.job_part import PartState
from proxyapi.operations import PART_OPERATIONS
from proxyapi.polling import circuit_breaker
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors

PART_READ_TIMEOUT = timedelta(seconds=35)  # as of a poll; then its worker counts as dead
MIN_READ_INTERVAL = timedelta(seconds=5)
# Of the age of the newest unfinished part: from three minutes on two reads a minute at most, after
# an hour six an hour, whatever its status says.
READ_INTERVAL_FRACTION = 1 / 6
MAX_READ_INTERVAL = timedelta(hours=1)
MAX_READING_AGE = timedelta(days=1)  # an older part is read again only when a person requests it
FAILED_READ_BACKOFF = Backoff(timedelta(seconds=10), timedelta(minutes=15))


def read_job_parts(job_id: UUID, until: datetime) -> None:
    """Read the record of a job once. `until` is the lease of the tick: a task that runs twice, or
    late, finds another time in the row and does nothing."""
    job = Job.objects.select_related("token__account", "account").get(pk=job_id)
    timeout_at = timezone.now() + PART_READ_TIMEOUT
    leased = Job.objects.filter(pk=job.pk, parts_due_at=until)
    if not job.account.is_of_current_upstream or not leased.update(parts_due_at=timeout_at):
        return
    with circuit_breaker.half_open_slot(job.account.environment) as may_read:
        if may_read:
            due_at = fetch_parts(job)
        else:
            due_at = timezone.now() + timedelta(seconds=circuit_breaker.PROBE_INTERVAL_S)
    if Job.objects.filter(pk=job.pk, parts_due_at=timeout_at).update(parts_due_at=due_at):
        publish_event(job.tenant_id, EventType.JOB, job.pk)


def fetch_parts(job: Job) -> datetime | None:
    """Read and store the parts. Return when to read again; None if nothing is in progress."""
    spec, path = KINDS[job.kind], {"id": str(job.remote_id)}
    try:
        grant = calls.acquire_permit(job.token, Priority.POLLING, operation=spec.read_operation)
        requested_at = timezone.now()
        reply = calls.send_request(job.token, spec.read_operation, grant, path=path)
    except RateLimitExhausted as exhausted:
        return timezone.now() + timedelta(seconds=max(1.0, exhausted.wait))
    except errors.UpstreamError as error:
        return next_attempt_at(job, error)
    circuit_breaker.close_circuit(job.account.environment)
    spec.store_parts(job, reply.data, requested_at)
    return next_part_read_at(job, requested_at)


def next_attempt_at(job: Job, error: errors.UpstreamError) -> datetime | None:
    """When to try again after an answer that did not come, or a refusal; None after a day."""
    now = timezone.now()
    known = [time for time in (last_read_at(job), last_part_charge_at(job)) if time]
    failing_for = now - max(known, default=job.finished_at or job.created_at)
    if failing_for > MAX_READING_AGE:
        return None
    delay = FAILED_READ_BACKOFF.delay_after(failing_for)
    requested = timedelta(seconds=error.retry_after or 0)
    return now + max(add_jitter(delay), requested, MIN_READ_INTERVAL)


def next_part_read_at(job: Job, requested_at: datetime) -> datetime | None:
    """The next read after one that was requested then; None if a poll reads the record, nothing is
    in progress, or it has lasted for a day."""
    if Job.objects.filter(pk=job.pk, state=JobState.RUNNING).exists():
        return None
    running = [part for part in job.parts.all() if part.state == PartState.RUNNING]
    if not running:
        return None
    youngest = max(part.created_at for part in running)
    if charged_at := last_part_charge_at(job):
        youngest = max(youngest, charged_at)  # a new image replaces one in an old part
    if requested_at - youngest > MAX_READING_AGE:
        return None
    interval = (requested_at - youngest) * READ_INTERVAL_FRACTION
    return requested_at + max(MIN_READ_INTERVAL, min(interval, MAX_READ_INTERVAL))


def last_read_at(job: Job) -> datetime | None:
    """When the newest stored record was requested."""
    last: datetime | None = job.parts.aggregate(last=Max("read_at"))["last"]
    return last


def last_part_charge_at(job: Job) -> datetime | None:
    """When the newest charge for a part was applied to the job."""
    charges = job.charges.filter(operation__in=PART_OPERATIONS)
    last: datetime | None = charges.aggregate(last=Max("applied_at"))["last"]
    return last


def read_unfinished_parts_again(job: Job) -> bool:
    """Read the job's parts soon because a person requested it, also if reading stopped.
    Return False if no part is in progress, and none was paid for since the last read."""
    read_at, charged_at = last_read_at(job), last_part_charge_at(job)
    is_unread = charged_at is not None and (read_at is None or charged_at > read_at)
    if not is_unread and not any(part.state == PartState.RUNNING for part in job.parts.all()):
        return False
    now = timezone.now()
    # A time within the timeout may be the lease of a read in progress, and comes soon anyway.
    is_later = Q(parts_due_at=None) | Q(parts_due_at__gt=now + PART_READ_TIMEOUT)
    Job.objects.filter(is_later, pk=job.pk).update(parts_due_at=now + MIN_READ_INTERVAL)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return True


def read_parts_soon(job: Job, delay: timedelta = MIN_READ_INTERVAL) -> None:
    """Read the record of this job at the next tick after `delay`, also if a read is in progress:
    that one may be older than the new part."""
    Job.objects.filter(pk=job.pk).update(parts_due_at=timezone.now() + delay)
