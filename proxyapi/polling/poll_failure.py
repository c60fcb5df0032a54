"""A look that told nothing: what we know of the job keeps its age, and the next look waits.

| what happened | the next look |
|---|---|
| nobody answers, or a 5xx | 7 s later, then as long again as it lasts, at most 15 minutes |
| the same of all that is looked at | 7 to 15 s later; three in a row are an outage (outage.py) |
| 429 | when the service said |
| 401, the plan lapsed | as soon as the token works again: due rows leave other tokens out |
| 404, 403 and other refusals | 20 s later, then as long again as it lasts, at most 15 minutes |
| 404 and the like, or 5xx for a day, of a job of a month ago | when somebody asks |
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
from proxyapi.upstream import errors

# Watched for so long without an end, a job is looked at again only when a person says so.
MAX_POLLING_AGE = timedelta(days=30)
STOPPED_POLL_DELAY = timedelta(days=3650)
OUTAGE_BACKOFF = Backoff(timedelta(seconds=7), timedelta(seconds=15))
SINGLE_JOB_BACKOFF = Backoff(timedelta(seconds=7), timedelta(minutes=15))
REFUSED_BACKOFF = Backoff(timedelta(seconds=20), timedelta(minutes=15))
BROKEN_RECORD_AFTER = timedelta(days=1)
STOPPED_TOKEN_RETRY_DELAY = timedelta(seconds=20)
MIN_RETRY_DELAY = timedelta(seconds=5.5)  # a tick may take a job 0.2 s before its time
TOKEN_ERRORS = (errors.Unauthorized, *calls.PLAN_ERRORS)  # trouble of the token, not of a job
NO_COST_SENTENCE = re.compile(r" Nothing was (charged|sent)[^.]*\.")
POLLING_CONTINUES_TEXT = "The video has not failed. We keep checking."
POLLING_ENDED_TEXT = (
    "The video has not failed, but status checks stopped. Use “Check again” to check it."
)


def record_poll_failure(job: Job, error: errors.UpstreamError) -> None:
    """Note a look that failed. The job's state stays what it was (rule 6; pitfall 14)."""
    now = timezone.now()
    since = job.poll_failing_since or now
    environment, is_silence = job.account.environment, circuit_breaker.is_outage_error(error)
    lasting = now - since
    is_away = is_silence and circuit_breaker.record_unanswered_poll(environment, lasting)
    is_its_own = is_silence and not is_away
    if is_its_own:  # while the service was away it was everybody's
        lasting = min(lasting, circuit_breaker.time_since_outage(environment))
    wait = max(MIN_RETRY_DELAY, add_jitter(poll_retry_delay(error, lasting, is_its_own)))
    is_over = is_polling_given_up(job, error, now, is_its_own and lasting > BROKEN_RECORD_AFTER)
    run = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)
    run.update(
        poll_error=poll_error_text(error, is_over),
        poll_failing_since=since,
        next_poll_at=now + (STOPPED_POLL_DELAY if is_over else wait),
    )
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    if is_away:
        mark_outage_on_jobs(environment, error, now)
    elif not is_silence and error.status is not None:
        circuit_breaker.close_circuit(environment)


def poll_error_text(error: errors.UpstreamError, is_over: bool = False) -> str:
    """What went wrong, without what it cost: beside a video that was paid, that the look was free
    would read as if the video were."""
    consequence = POLLING_ENDED_TEXT if is_over else POLLING_CONTINUES_TEXT
    return f"{NO_COST_SENTENCE.sub('', error.user_message)} {consequence}"


def is_polling_given_up(
    job: Job, error: errors.UpstreamError, now: datetime, is_broken: bool
) -> bool:
    """Whether a refusal of this one resource ends its watching: it may have been deleted there, or
    its record is broken."""
    if not is_broken and (
        not isinstance(error, calls.PERMANENT_ERRORS) or isinstance(error, TOKEN_ERRORS)
    ):
        return False
    return job.started_at is not None and now - job.started_at > MAX_POLLING_AGE


def poll_retry_delay(
    error: errors.UpstreamError, lasting: timedelta, is_its_own: bool = False
) -> timedelta:
    """The delay before the next poll. `is_its_own`: nobody answers for this job alone, and what
    waits longest goes first, so it would take the polls of the others."""
    if isinstance(error, TOKEN_ERRORS):
        return STOPPED_TOKEN_RETRY_DELAY
    requested = timedelta(seconds=error.retry_after or 0)
    if isinstance(error, errors.RateLimited):
        return max(OUTAGE_BACKOFF.shortest, requested)
    of_silence = SINGLE_JOB_BACKOFF if is_its_own else OUTAGE_BACKOFF
    backoff = REFUSED_BACKOFF if isinstance(error, calls.PERMANENT_ERRORS) else of_silence
    return max(backoff.delay_after(lasting), requested)


def mark_outage_on_jobs(environment: str, error: errors.UpstreamError, now: datetime) -> None:
    """The service is away: that is known of every job on it, though few were looked at."""
    unaware = Job.objects.filter(
        account__environment=environment, state=JobState.RUNNING, poll_error=""
    )
    told = list(unaware.values_list("pk", "tenant_id"))
    # Who rests for long would say so for long, too: it is looked at as soon as the service is back.
    unaware.filter(pk__in=[pk for pk, _ in told]).update(
        poll_error=poll_error_text(error),
        poll_failing_since=now,
        next_poll_at=Least("next_poll_at", now + OUTAGE_BACKOFF.longest),
    )
    for pk, tenant in told:
        publish_event(tenant, EventType.JOB, pk)
