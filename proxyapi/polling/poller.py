"""Poll one job: read its resource and store its status. A failed poll changes only what we know
(rule 6)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from random import SystemRandom
from threading import Event as Alarm
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.db.models.functions import Least
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, StatusReading
from proxyapi.models import (
    Account,
    ApiEvent,
    ApiEventType,
    Charge,
    Job,
    JobOrigin,
    JobState,
    PolledAnswer,
    RenderDurations,
)
from proxyapi.models.account import amount_text
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import get_operation
from proxyapi.polling import circuit_breaker
from proxyapi.polling.duration_history import DurationHistory, DurationKey
from proxyapi.polling.duration_model import (
    MIN_POLL_INTERVAL_S,
    DurationModel,
    stalled_poll_delay,
)
from proxyapi.polling.job_quarantine import quarantine_failing_job
from proxyapi.polling.poll_failure import MAX_POLLING_AGE, STOPPED_POLL_DELAY, record_poll_failure
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Answer
from proxyapi.upstream.status_words import says_in_progress

# A poll takes at most this long; after that its worker counts as dead.
POLL_TIMEOUT = timedelta(seconds=35)
MAX_WORKER_WAIT_S = 0.5  # seconds for which a worker may wait
MIN_POLL_INTERVAL = timedelta(seconds=MIN_POLL_INTERVAL_S)
# Seconds for which the upstream may still show the failure before a paid retry
STALE_FAILURE_WINDOW_S = 60.0
POLLING_STOPPED_TEXT = (
    "Still {word} after 30 days, so status checks stopped. Use “Check again” to check it."
)
rng = SystemRandom()


def poll_job(
    job_id: UUID, until: datetime | None = None, lane: Priority = Priority.POLLING
) -> UUID | None:
    """Poll a running job once. Return the id of the account whose options have to be read again,
    because it offers what was completed; None otherwise.

    `until` is the lease of the tick; without one the job has to be due. A task that runs twice, or
    late, finds another `next_poll_at` in the row and does nothing.
    """
    job = Job.objects.select_related("token__account", "account").get(pk=job_id)
    if not job.account.is_of_current_upstream or not claim_poll(job, until):
        return None
    if (wait_s := seconds_too_early(job)) > MAX_WORKER_WAIT_S:
        current_run(job).update(next_poll_at=timezone.now() + timedelta(seconds=wait_s))
        return None
    Alarm().wait(max(0.0, wait_s))
    with (
        quarantine_failing_job(job),
        circuit_breaker.half_open_slot(job.account.environment) as may_poll,
    ):
        if may_poll:
            fetch_and_apply(job, lane)
        else:
            again_at = timezone.now() + timedelta(seconds=circuit_breaker.PROBE_INTERVAL_S)
            current_run(job).update(next_poll_at=again_at)
    stale = Account.objects.filter(pk=job.account_id, refreshed_at=None)
    return job.account_id if KINDS[job.kind].changes_options and stale.exists() else None


def claim_poll(job: Job, until: datetime | None) -> bool:
    now = timezone.now()
    if job.next_poll_at is None or (until is None and job.next_poll_at > now):
        return False
    row = current_run(job).filter(next_poll_at=until or job.next_poll_at)
    return bool(row.update(next_poll_at=now + POLL_TIMEOUT))


def seconds_too_early(job: Job) -> float:
    """Seconds until the job may be polled; a tick leases it slightly early rather than a second
    late."""
    if job.polled_at is None:
        return 0.0
    return (job.polled_at + MIN_POLL_INTERVAL - timezone.now()).total_seconds()


def fetch_and_apply(job: Job, lane: Priority) -> None:
    """Read the job's resource and apply the answer.

    The poll counts from its sending, after the wait for a permit, so no two polls come closer
    together.
    """
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
        keep_polled_answer(job, reply.answer, requested_at)
        apply_answer(job, reply.data, requested_at)


def apply_answer(job: Job, data: Any, requested_at: datetime) -> None:
    """Store what an answer to the read of a running job shows: its parts and its status."""
    kind = KINDS[job.kind]
    kind.store_parts(job, data, requested_at)
    reading = kind.read_status(data)
    if reading.state == JobState.COMPLETED:
        kind.store_completion(job, data)
    apply_reading(job, reading, requested_at)


def keep_polled_answer(job: Job, answer: Answer | None, requested_at: datetime) -> None:
    """Keep the answer for the script whose job it is: it is then answered from here."""
    if job.origin == JobOrigin.GATEWAY and answer is not None:
        told = {"status": answer.status, "headers": dict(answer.headers), "body": answer.body}
        PolledAnswer.objects.update_or_create(
            job_id=job.pk, defaults={**told, "read_at": requested_at}
        )


def current_run(job: Job) -> QuerySet[Job]:
    """The job's row while it is still the run that is polled; a retry since then is another run."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)


def apply_reading(job: Job, reading: StatusReading, requested_at: datetime) -> None:
    """Store a status reading."""
    durations = DurationHistory({job.kind}).model_for(DurationKey.for_job(job))
    fields: dict[str, object] = {"failures": 0, "poll_error": "", "poll_failing_since": None}
    fields |= changes_for(job, reading, requested_at, durations)
    is_new = save_if_current(job, fields)
    if is_new and reading.state == JobState.COMPLETED and KINDS[job.kind].changes_options:
        Account.objects.filter(pk=job.account_id).update(refreshed_at=None)  # due at once
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    # A failed run ends early; it does not show how long a render takes.
    if is_new and reading.state == JobState.COMPLETED and "finished_at" in fields:
        # Last, because the event must be published even if this fails.
        record_run_duration(job, requested_at, durations)


def changes_for(
    job: Job, reading: StatusReading, requested_at: datetime, durations: DurationModel
) -> dict[str, object]:
    """The column values of the job's row that follow from a status reading."""
    if is_stale_failure(job, reading, requested_at):
        return next_poll(job, reading, requested_at, durations)
    status: dict[str, object] = {}
    if reading.raw_status and (reading.raw_status != job.raw_status or not job.status_since):
        status = {"raw_status": reading.raw_status, "status_since": requested_at}
    if reading.state in (JobState.COMPLETED, JobState.FAILED):
        return status | final_changes(reading)
    return {**status, "polled_at": requested_at, **next_poll(job, reading, requested_at, durations)}


def is_stale_failure(job: Job, reading: StatusReading, requested_at: datetime) -> bool:
    """Whether the reading shows the failure from before the paid retry, from a replica that lags.

    A failure counts once a poll has read the new run as running, or after a minute.
    """
    is_first_poll = job.started_at is not None and job.polled_at == job.started_at
    if (
        reading.state != JobState.FAILED
        or not is_first_poll
        or run_age_s(job, requested_at) > STALE_FAILURE_WINDOW_S
    ):
        return False
    starting_charge = Charge.objects.filter(job=job, applied_at=job.started_at).first()
    failure = {"code": reading.failure_code, "message": reading.failure_message}
    return starting_charge is not None and starting_charge.before.get("failure") == failure


@transaction.atomic
def save_if_current(job: Job, fields: dict[str, object]) -> bool:
    """Store the values if the polled run is still current; return whether it is.

    The refund of a failed clip is marked as owed in the same transaction (spec, Credit charges),
    because no later poll reads the failure.
    """
    saved = current_run(job).update(**fields)
    if saved and fields.get("state") == JobState.FAILED:
        Charge.objects.mark_refund_owed(job, timezone.now())
    # An imported job that no poll has seen running had ended before.
    if saved and "finished_at" in fields and (job.polled_at or not job.is_imported):
        record_end(job, fields)
    return bool(saved)


def record_end(job: Job, fields: Mapping[str, object]) -> None:
    """Write the event of the end of the run, in the caller's transaction."""
    paid = Charge.objects.filter(job=job, state__in=CHARGED_STATES, refunded_at=None)
    spec = KINDS[job.kind]
    operation = get_operation(spec.read_operation)
    ApiEvent.objects.record(
        ApiEventType(f"{spec.event_name}.{fields['state']}"),
        job.pk,
        {
            "job": job.pk,
            "resource": job.remote_id,
            "credits": amount_text(paid.aggregate(sum=Sum("cost"))["sum"] or Decimal(0)),
            "failure_code": fields.get("failure_code") or None,
            "url": f"/api/v2{operation.path}".format(
                **{operation.path_parameters[0]: job.remote_id}
            ),
        },
        tenant_id=job.tenant_id,
        occurrence=str(fields["finished_at"]),
        member_id=job.member_id,
        api_key_id=job.api_key_id,
    )


def final_changes(reading: StatusReading) -> dict[str, object]:
    """`polled_at` keeps the time of the last poll that read the job as running: it ended between
    the two."""
    now = timezone.now()
    fields: dict[str, object] = {"state": reading.state, "finished_at": now}
    if reading.state == JobState.COMPLETED:
        urls = {"media_url": reading.media_url, "poster_url": reading.poster_url}
        return fields | urls | {"media_as_of": now}
    code, message = reading.failure_code, reading.failure_message
    return fields | {"failure_code": code, "failure_message": message}


def next_poll(
    job: Job, reading: StatusReading, requested_at: datetime, durations: DurationModel
) -> dict[str, object]:
    """The next poll time; after `MAX_POLLING_AGE` only a person resumes polling (pitfall 18)."""
    age = run_age_s(job, requested_at)
    if age > MAX_POLLING_AGE.total_seconds():
        text = POLLING_STOPPED_TEXT.format(word=reading.raw_status or job.raw_status or "running")
        return {
            "next_poll_at": requested_at + STOPPED_POLL_DELAY,
            "poll_error": text,
            "poll_failing_since": requested_at,
        }
    is_stalled = durations.is_stalled(
        age,
        word_age_s(job, reading, requested_at),
        is_known_word=says_in_progress(reading.raw_status),
    )
    if is_stalled:
        same_token = Job.objects.stalled().filter(token__fingerprint=job.token.fingerprint)
        delay = stalled_poll_delay(age, 1 + same_token.exclude(pk=job.pk).count())
    else:
        delay = durations.next_poll_delay(age)
    return {
        "next_poll_at": requested_at + timedelta(seconds=delay),
        "stalled_at": (job.stalled_at or requested_at) if is_stalled else None,
    }


def word_age_s(job: Job, reading: StatusReading, at: datetime) -> float:
    """Seconds since the job's status changed; an answer without a readable one changes nothing."""
    if reading.raw_status not in ("", job.raw_status):
        return 0.0
    return max(0.0, (at - (job.status_since or job.started_at or at)).total_seconds())


def record_run_duration(job: Job, requested_at: datetime, durations: DurationModel) -> None:
    """Record the run's duration, if the last poll that read it as running was shortly before this
    one."""
    if job.started_at is None:
        return
    last_running_age = run_age_s(job, job.polled_at or job.started_at)
    duration = durations.estimate_duration(last_running_age, run_age_s(job, requested_at), rng)
    if duration is not None:
        RenderDurations.objects.add_duration(job, duration)


def run_age_s(job: Job, at: datetime) -> float:
    return max(0.0, (at - (job.started_at or job.status_since or at)).total_seconds())


def poll_soon(job: Job) -> bool:
    """Poll the job within 5 s, whatever stopped or slowed its polling; a stalled one counts as
    moving until it is read. A repeated call does not delay it.

    False if it is no longer running.
    """
    updated = current_run(job).update(
        next_poll_at=Least("next_poll_at", timezone.now() + MIN_POLL_INTERVAL),
        failures=0,
        stalled_at=None,
        poll_error="",
        poll_failing_since=None,
    )
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return bool(updated)


def refresh_media_url(job: Job) -> bool:
    """Read the media URL of a finished job again, after the old one expired. True if it is a new
    one."""
    requested_at = timezone.now()
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
    KINDS[job.kind].store_parts(job, reply.data, requested_at)
    reading = KINDS[job.kind].read_status(reply.data)
    if not reading.media_url:
        return False
    job.media_url, job.poster_url = reading.media_url, reading.poster_url
    job.media_as_of = timezone.now()
    job.save(update_fields=["media_url", "poster_url", "media_as_of"])
    return True
