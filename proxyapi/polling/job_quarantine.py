"""Stop polling a job whose handling raised five times in a row; the other jobs go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.models import Draft, Job, JobState
from proxyapi.models.job import MAX_JOB_CRASHES

CRASH_RETRY_DELAY = timedelta(seconds=10)
POLLING_QUARANTINED_TEXT = (
    "Checking it failed five times in a row because of an error in Reelroom, so status checks "
    "stopped. It has not failed. The cause is in the log. Use “Check again” to continue."
)
QUOTE_QUARANTINED_TEXT = (
    "Getting the price failed five times in a row because of an error in Reelroom, so it stopped. "
    "Nothing was charged. The cause is in the log."
)


@contextmanager
def quarantine_failing_job(job: Job) -> Iterator[None]:
    """Count exceptions from the handling of a job and raise them again, so that they are logged."""
    try:
        yield
    except Exception:
        record_job_crash(job)
        raise
    Job.objects.filter(pk=job.pk, failures__gt=0).update(failures=0)


def record_job_crash(job: Job) -> None:
    now = timezone.now()
    row = Job.objects.filter(pk=job.pk)
    row.update(failures=F("failures") + 1)
    row.filter(state=JobState.RUNNING).update(next_poll_at=now + CRASH_RETRY_DELAY)
    quarantined = row.filter(failures__gte=MAX_JOB_CRASHES)
    running = quarantined.filter(state=JobState.RUNNING)
    unpriced = Draft.objects.filter(job__in=quarantined, quote_due_at__isnull=False)
    if running.update(poll_error=POLLING_QUARANTINED_TEXT, poll_failing_since=now):
        publish_event(job.tenant_id, EventType.JOB, job.pk)
    elif unpriced.update(quote_error=QUOTE_QUARANTINED_TEXT, quote_due_at=None):
        row.update(failures=0)
        publish_event(job.tenant_id, EventType.JOB, job.pk)
