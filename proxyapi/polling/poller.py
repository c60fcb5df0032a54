"""Poll one job: read its resource and store its status. A failed poll changes only what we know
(rule 6)."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import SystemRandom
from threading import Event as Alarm
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Least
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, StatusReading
from proxyapi.models import Charge, Job, JobState, RenderDurations
from proxyapi.polling import circuit_breaker
from proxyapi.polling.duration_history import DurationHistory, DurationKey
from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S, DurationModel
from proxyapi.polling.job_quarantine import quarantine_failing_job
from proxyapi.polling.poll_failure import MAX_POLLING_AGE, STOPPED_POLL_DELAY, record_poll_failure
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors

# A poll takes at most this long; after that its worker is taken for dead.
POLL_TIMEOUT = timedelta(seconds=35)
MAX_WORKER_WAIT_S = 0.5  # seconds for which a worker may wait
MIN_POLL_INTERVAL = timedelta(seconds=MIN_POLL_INTERVAL_S)
STALE_FAILURE_WINDOW_S = (
    60.0  # seconds for which a service may still show the failure that a retry was paid for
)
POLLING_STOPPED_TEXT = (
    "Still {word} after 30 days, so status checks stopped. Use “Check again” to check it."
)
rng = SystemRandom()


def poll_job(
    job_id: UUID, until: datetime | None = None, lane: Priority = Priority.POLLING
) -> None:
    """Poll a running job once.

    `until` is the lease that the tick gave; without one the job has to be due. A task that runs
    twice, or late, finds another time in the row and does nothing.
    """
    job = Job.objects.select_related("token__account", "account").get(pk=job_id)
    if not job.account.is_of_current_upstream or not claim_poll(job, until):
        return
    if (early := seconds_too_early(job)) > MAX_WORKER_WAIT_S:
        current_run(job).update(next_poll_at=timezone.now() + timedelta(seconds=early))
        return
    Alarm().wait(max(0.0, early))
    with (
        quarantine_failing_job(job),
        circuit_breaker.half_open_slot(job.account.environment) as may_look,
    ):
        if may_look:
            fetch_and_apply(job, lane)
        else:
            again_at = timezone.now() + timedelta(seconds=circuit_breaker.PROBE_INTERVAL_S)
            current_run(job).update(next_poll_at=again_at)


def claim_poll(job: Job, until: datetime | None) -> bool:
    now = timezone.now()
    if job.next_poll_at is None or (until is None and job.next_poll_at > now):
        return False
    mine = current_run(job).filter(next_poll_at=until or job.next_poll_at)
    return bool(mine.update(next_poll_at=now + POLL_TIMEOUT))


def seconds_too_early(job: Job) -> float:
    """Seconds; a tick takes a job a little before its time, rather than a second after it."""
    if job.polled_at is None:
        return 0.0
    return (job.polled_at + MIN_POLL_INTERVAL - timezone.now()).total_seconds()


def fetch_and_apply(job: Job, lane: Priority) -> None:
    """The time of a look is that of its sending: waiting for the bucket brings no two nearer."""
    operation, path = KINDS[job.kind].read_operation, {"id": str(job.remote_id)}
    try:
        grant = calls.acquire_permit(job.token, lane, operation=operation)
        requested_at = timezone.now()
        reply = calls.send_request(job.token, operation, grant, path=path)
    except RateLimitExhausted as exhausted:
        again_at = timezone.now() + timedelta(seconds=max(1.0, exhausted.wait))
        current_run(job).update(next_poll_at=again_at)
    except errors.UpstreamError as error:
        record_poll_failure(job, error)
    else:
        circuit_breaker.close_circuit(job.account.environment)
        apply_reading(job, KINDS[job.kind].read_status(reply.data), requested_at)


def current_run(job: Job) -> QuerySet[Job]:
    """The row while it runs as it did when the look began: a retry since then is another run."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)


def apply_reading(job: Job, sight: StatusReading, requested_at: datetime) -> None:
    """Note what a look saw."""
    durations = DurationHistory({job.kind}).model_for(DurationKey.for_job(job))
    fields: dict[str, object] = {"failures": 0, "poll_error": "", "poll_failing_since": None}
    fields |= changes_for(job, sight, requested_at, durations)
    is_new = save_if_current(job, fields)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    if is_new and "finished_at" in fields:
        record_run_duration(
            job, requested_at, durations
        )  # last: nobody looks again to tell of an end


def changes_for(
    job: Job, sight: StatusReading, requested_at: datetime, durations: DurationModel
) -> dict[str, object]:
    """What a look tells the job's row."""
    if is_stale_failure(job, sight, requested_at):
        return next_poll(job, sight, requested_at, durations)
    word: dict[str, object] = {"raw_status": sight.raw_status} if sight.raw_status else {}
    if sight.state in (JobState.COMPLETED, JobState.FAILED):
        return word | final_changes(sight)
    return {**word, "polled_at": requested_at, **next_poll(job, sight, requested_at, durations)}


def is_stale_failure(job: Job, sight: StatusReading, requested_at: datetime) -> bool:
    """Whether it is the very failure that this run's retry was paid for, shown once more by a copy
    of the service that lags. It counts as soon as a look saw the run go on, or after a minute."""
    is_first = job.started_at is not None and job.polled_at == job.started_at
    if (
        sight.state != JobState.FAILED
        or not is_first
        or run_age_s(job, requested_at) > STALE_FAILURE_WINDOW_S
    ):
        return False
    began = Charge.objects.filter(job=job, applied_at=job.started_at).first()
    seen = {"code": sight.failure_code, "message": sight.failure_message}
    return began is not None and began.before.get("failure") == seen


@transaction.atomic
def save_if_current(job: Job, fields: dict[str, object]) -> bool:
    """Whether the run was still the one that was looked at. A failed clip is owed what it took, in
    the same step (spec, Credit charges): no later look comes by that would see it fail."""
    taken = current_run(job).update(**fields)
    if taken and fields.get("state") == JobState.FAILED:
        Charge.objects.mark_refund_owed(job, timezone.now())
    return bool(taken)


def final_changes(sight: StatusReading) -> dict[str, object]:
    """`polled_at` stays that of the last look that saw it running: between the two it ended."""
    now = timezone.now()
    fields: dict[str, object] = {"state": sight.state, "finished_at": now}
    if sight.state == JobState.COMPLETED:
        return fields | {"media_url": sight.media_url, "media_as_of": now}
    code, message = sight.failure_code, sight.failure_message
    return fields | {"failure_code": code, "failure_message": message}


def next_poll(
    job: Job, sight: StatusReading, requested_at: datetime, durations: DurationModel
) -> dict[str, object]:
    """When to poll next; after a month only when a person asks (pitfall 18)."""
    age = run_age_s(job, requested_at)
    if age > MAX_POLLING_AGE.total_seconds():
        said = POLLING_STOPPED_TEXT.format(word=sight.raw_status or job.raw_status or "running")
        return {
            "next_poll_at": requested_at + STOPPED_POLL_DELAY,
            "poll_error": said,
            "poll_failing_since": requested_at,
        }
    return {"next_poll_at": requested_at + timedelta(seconds=durations.next_poll_delay(age))}


def record_run_duration(job: Job, requested_at: datetime, durations: DurationModel) -> None:
    """Record how long it ran, if the last poll that saw it running was shortly before this one."""
    if job.started_at is None:
        return
    seen = run_age_s(job, job.polled_at or job.started_at)
    took = durations.estimate_duration(seen, run_age_s(job, requested_at), rng)
    if took is not None:
        RenderDurations.objects.add_duration(job, took)


def run_age_s(job: Job, at: datetime) -> float:
    return max(0.0, (at - (job.started_at or at)).total_seconds())


def poll_soon(job: Job) -> bool:
    """Poll the job within 5 s, whatever stopped or slowed its polling. A repeated call does not
    delay it.

    False if it is no longer running.
    """
    taken_up = current_run(job).update(
        next_poll_at=Least("next_poll_at", timezone.now() + MIN_POLL_INTERVAL),
        failures=0,
        poll_error="",
        poll_failing_since=None,
    )
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return bool(taken_up)


def refresh_media_url(job: Job) -> bool:
    """Read the media URL of a finished job again, after the old one expired. True if it is a new
    one."""
    try:
        reply = calls.call_upstream(
            job.token,
            KINDS[job.kind].read_operation,
            Priority.PERSON,
            patience=5,
            path={"id": str(job.remote_id)},
        )
    except (errors.UpstreamError, RateLimitExhausted):
        return False
    sight = KINDS[job.kind].read_status(reply.data)
    if not sight.media_url:
        return False
    job.media_url, job.media_as_of = sight.media_url, timezone.now()
    job.save(update_fields=["media_url", "media_as_of"])
    return True
