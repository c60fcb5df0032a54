"""A failed poll: what is known of the job keeps its age, and the next poll is delayed.

| failure | next poll |
|---|---|
| no answer, or a 5xx, of this job only | after 7 s, then as long again as it lasts, up to 15 min |
| the same of a job that no longer moves | after half a minute at least |
| the same of every poll | after 7 to 15 s; three in a row are an outage (`circuit_breaker`) |
| 429 | when the upstream says |
| 401, or the plan lapsed | as soon as the token works again |
| 404, 403, another's record | after 20 s, then as long again as it lasts, at most 15 minutes |
| 404 and the like, or 5xx for a day, of a job older than 30 days | when a person requests it |
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from django.db.models.functions import Least
from django.utils import timezone

from proxyapi import calls
from proxyapi.backoff import Backoff, add_jitter
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job, JobState
from proxyapi.polling import circuit_breaker
from proxyapi.polling.duration_model import MIN_STALLED_INTERVAL_S
from proxyapi.upstream import errors

# A job that is older is polled again only when a person requests it.
MAX_POLLING_AGE = timedelta(days=30)
STOPPED_POLL_DELAY = timedelta(days=3650)
OUTAGE_BACKOFF = Backoff(timedelta(seconds=7), timedelta(seconds=15))
SINGLE_JOB_BACKOFF = Backoff(timedelta(seconds=7), timedelta(minutes=15))
REFUSED_BACKOFF = Backoff(timedelta(seconds=20), timedelta(minutes=15))
BROKEN_RECORD_AFTER = timedelta(days=1)
STOPPED_TOKEN_RETRY_DELAY = timedelta(seconds=20)
MIN_RETRY_DELAY = timedelta(seconds=5.5)  # a tick may take a job 0.2 s before its time
TOKEN_ERRORS = (errors.Unauthorized, *calls.PLAN_ERRORS)  # concern the token, not the job
REFUSAL_ERRORS = (*calls.PERMANENT_ERRORS, errors.ForeignRecord)  # of this job, not of the service
NO_COST_SENTENCE = re.compile(r" Nothing was (charged|sent)[^.]*\.")
POLLING_CONTINUES_TEXT = "The video has not failed. We keep checking."
POLLING_ENDED_TEXT = (
    "The video has not failed, but status checks stopped. Use “Check again” to check it."
)


def record_poll_failure(job: Job, error: errors.UpstreamError) -> None:
    """Record a failed poll. The job's state does not change (rule 6; pitfall 14)."""
    now = timezone.now()
    since = job.poll_failing_since or now
    environment, is_unanswered = job.account.environment, circuit_breaker.is_outage_error(error)
    failing_for = now - since
    is_outage = is_unanswered and circuit_breaker.record_unanswered_poll(environment, failing_for)
    is_single_job = is_unanswered and not is_outage
    if is_single_job:  # an outage does not count for this job
        failing_for = min(failing_for, circuit_breaker.time_since_outage(environment))
    wait = max(MIN_RETRY_DELAY, add_jitter(poll_retry_delay(error, failing_for, is_single_job)))
    if job.is_stalled and not is_outage:
        wait = max(wait, timedelta(seconds=MIN_STALLED_INTERVAL_S))
    is_over = is_polling_given_up(
        job, error, now, is_single_job and failing_for > BROKEN_RECORD_AFTER
    )
    run = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)
    run.update(
        poll_error=poll_error_text(error, is_over),
        poll_failing_since=since,
        next_poll_at=now + (STOPPED_POLL_DELAY if is_over else wait),
    )
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    if is_outage:
        mark_outage_on_jobs(environment, error, now)
    elif not is_unanswered and error.status is not None:
        circuit_breaker.close_circuit(environment)


def poll_error_text(error: errors.UpstreamError, is_over: bool = False) -> str:
    """The error's text without its sentence about cost: beside a paid video it would read as if the
    video had been free."""
    consequence = POLLING_ENDED_TEXT if is_over else POLLING_CONTINUES_TEXT
    return f"{NO_COST_SENTENCE.sub('', error.user_message)} {consequence}"


def is_polling_given_up(
    job: Job, error: errors.UpstreamError, now: datetime, is_broken: bool
) -> bool:
    """Whether a refusal of this resource ends its polling: it may be deleted upstream, or its
    record broken."""
    if not is_broken and (not isinstance(error, REFUSAL_ERRORS) or isinstance(error, TOKEN_ERRORS)):
        return False
    return job.started_at is not None and now - job.started_at > MAX_POLLING_AGE


def poll_retry_delay(
    error: errors.UpstreamError, failing_for: timedelta, is_single_job: bool = False
) -> timedelta:
    """The delay before the next poll.

    `is_single_job`: only this job gets no answer. It needs a longer delay, because the
    longest-waiting job is polled first and would take the polls of the others.
    """
    if isinstance(error, TOKEN_ERRORS):
        return STOPPED_TOKEN_RETRY_DELAY
    requested = timedelta(seconds=error.retry_after or 0)
    if isinstance(error, errors.RateLimited):
        return max(OUTAGE_BACKOFF.shortest, requested)
    unanswered_backoff = SINGLE_JOB_BACKOFF if is_single_job else OUTAGE_BACKOFF
    is_refusal = isinstance(error, REFUSAL_ERRORS)
    backoff = REFUSED_BACKOFF if is_refusal else unanswered_backoff
    return max(backoff.delay_after(failing_for), requested)


def mark_outage_on_jobs(environment: str, error: errors.UpstreamError, now: datetime) -> None:
    """Record the outage on every running job of the upstream, though few of them were polled."""
    unmarked = Job.objects.filter(
        account__environment=environment, state=JobState.RUNNING, poll_error=""
    )
    jobs = list(unmarked.values_list("pk", "tenant_id"))
    # Jobs with a long delay are moved up, so that they lose the message soon after the outage.
    unmarked.filter(pk__in=[pk for pk, _ in jobs]).update(
        poll_error=poll_error_text(error),
        poll_failing_since=now,
        next_poll_at=Least("next_poll_at", now + OUTAGE_BACKOFF.longest),
    )
    for pk, tenant in jobs:
        publish_event(tenant, EventType.JOB, pk)
