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
from random import SystemRandom

from django.db.models.functions import Least
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job, JobState
from proxyapi.upstream import errors
from proxyapi.watching import outage

# Watched for so long without an end, a job is looked at again only when a person says so.
WATCHED_FOR = timedelta(days=30)
RESTING = timedelta(days=3650)
UNANSWERED = (7.0, 15.0)  # seconds; from, to
UNANSWERED_ALONE = (7.0, 900.0)
A_DAY = 86_400.0  # seconds
REFUSED = (20.0, 900.0)
WHILE_STOPPED = 20.0
LEAST = 5.5  # a tick may take a job 0.2 s before its time
TOKENS_OWN = (errors.Unauthorized, *calls.PLAN_ERRORS)  # trouble of the token, not of a job
FREE = re.compile(r" Nothing was (charged|sent)[^.]*\.")
GOES_ON = "The video is not failed; we go on looking."
NO_MORE = "The video is not failed, but looking stopped. “Look again” looks once more."
JITTER = 0.2  # of the wait, either way: many that failed together do not come back together
chance = SystemRandom()


def saw_nothing(job: Job, error: errors.UpstreamError) -> None:
    """Note a look that failed. The job's state stays what it was (law 6; pitfall 14)."""
    now = timezone.now()
    since = job.look_error_since or now
    environment, is_silence = job.account.environment, outage.says(error)
    lasts = (now - since).total_seconds()
    is_away = is_silence and outage.failed(environment, lasts)
    is_its_own = is_silence and not is_away
    if is_its_own:  # while the service was away it was everybody's
        lasts = min(lasts, outage.over_for(environment))
    wait = jittered(wait_after(error, lasts, is_its_own))
    is_over = is_given_up(job, error, now, is_its_own and lasts > A_DAY)
    run = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)
    run.update(
        look_error=of_the_video(error, is_over),
        look_error_since=since,
        next_look_at=now + (RESTING if is_over else wait),
    )
    publish_event(job.vault_id, EventType.JOB, job.pk)
    if is_away:
        tell_all(environment, error, now)
    elif not is_silence and error.status is not None:
        outage.answered(environment)


def of_the_video(error: errors.UpstreamError, is_over: bool = False) -> str:
    """What went wrong, without what it cost: beside a video that was paid, that the look was free
    would read as if the video were."""
    return f"{FREE.sub('', error.user_message)} {NO_MORE if is_over else GOES_ON}"


def is_given_up(job: Job, error: errors.UpstreamError, now: datetime, is_broken: bool) -> bool:
    """Whether a refusal of this one resource ends its watching: it may have been deleted there, or
    its record is broken."""
    if not is_broken and (
        not isinstance(error, calls.PERMANENT_ERRORS) or isinstance(error, TOKENS_OWN)
    ):
        return False
    return job.started_at is not None and now - job.started_at > WATCHED_FOR


def wait_after(error: errors.UpstreamError, lasts: float, is_its_own: bool = False) -> float:
    """Seconds, for trouble that lasts for so many already. `is_its_own`: nobody answers for this
    job alone, and what waits longest goes first, so it would take the looks of the others."""
    if isinstance(error, TOKENS_OWN):
        return WHILE_STOPPED
    if isinstance(error, errors.RateLimited):
        return max(UNANSWERED[0], error.retry_after or 0)
    of_silence = UNANSWERED_ALONE if is_its_own else UNANSWERED
    shortest, longest = REFUSED if isinstance(error, calls.PERMANENT_ERRORS) else of_silence
    return max(min(max(lasts, shortest), longest), error.retry_after or 0)


def jittered(seconds: float) -> timedelta:
    return timedelta(seconds=max(LEAST, seconds * chance.uniform(1 - JITTER, 1 + JITTER)))


def tell_all(environment: str, error: errors.UpstreamError, now: datetime) -> None:
    """The service is away: that is known of every job on it, though few were looked at."""
    unaware = Job.objects.filter(
        account__environment=environment, state=JobState.RUNNING, look_error=""
    )
    told = list(unaware.values_list("pk", "vault_id"))
    # Who rests for long would say so for long, too: it is looked at as soon as the service is back.
    unaware.filter(pk__in=[pk for pk, _ in told]).update(
        look_error=of_the_video(error),
        look_error_since=now,
        next_look_at=Least("next_look_at", now + timedelta(seconds=UNANSWERED[1])),
    )
    for pk, vault in told:
        publish_event(vault, EventType.JOB, pk)
