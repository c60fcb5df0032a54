"""A look: read one job's resource and note what it says; a look that fails changes only what we
know."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from proxyapi import calls
from proxyapi.allowance import AllowanceExhausted, Lane
from proxyapi.events import Event, publish
from proxyapi.models import Charge, Job, JobState, Token
from proxyapi.upstream import errors
from proxyapi.watching.states import WAYS, Sight, read

# Spec, Limits: every 5 to 10 seconds; never more often than 5 s on one resource (law 5).
SHORTEST = 5.0
# Of 30 requests a minute, what is left for watching when people keep a reserve.
WATCHING_A_MINUTE = 22
AFTER_ERROR = timedelta(seconds=20)
WHILE_STOPPED = timedelta(minutes=2)


def look(job_id: UUID, lane: Lane = Lane.WATCHING) -> None:
    """Look at a running job once."""
    job = Job.objects.select_related("token__account", "account").get(pk=job_id)
    if job.state != JobState.RUNNING:
        return
    way = WAYS[job.kind]
    try:
        reply = calls.call(job.token, way.operation, lane, path={"id": str(job.remote_id)})
    except AllowanceExhausted as exhausted:
        this_run(job).update(
            next_look_at=timezone.now() + timedelta(seconds=max(1.0, exhausted.wait))
        )
    except errors.UpstreamError as error:
        saw_nothing(job, error)
    else:
        saw(job, read(job.kind, reply.data))


def this_run(job: Job) -> QuerySet[Job]:
    """The row while it runs as it did when the look began: a retry since then is another run."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, started_at=job.started_at)


def saw(job: Job, sight: Sight) -> None:
    """Note what a look saw."""
    now = timezone.now()
    fields: dict[str, object] = {
        "looked_at": now,
        "next_look_at": now + cadence(job.token),
        "look_error": "",
        "look_error_since": None,
    }
    if sight.raw:
        fields["raw_status"] = sight.raw
    if sight.state == JobState.COMPLETED:
        fields |= {
            "state": sight.state,
            "finished_at": now,
            "media_url": sight.media_url,
            "media_as_of": now,
        }
    elif sight.state == JobState.FAILED:
        fields |= {
            "state": sight.state,
            "finished_at": now,
            "failure_code": sight.failure_code,
            "failure_message": sight.failure_message,
        }
    if this_run(job).update(**fields) and sight.state == JobState.FAILED:
        Charge.objects.owe(job, now)  # a failed clip is given back (spec, Credit charges)
    publish(job.vault_id, Event.JOB, job.pk)


def saw_nothing(job: Job, error: errors.UpstreamError) -> None:
    now = timezone.now()
    stopped = isinstance(error, (errors.Unauthorized, *calls.PLAN_ERRORS))
    wait = WHILE_STOPPED if stopped else max(AFTER_ERROR, timedelta(seconds=error.retry_after or 0))
    this_run(job).update(
        look_error=error.user_message,
        look_error_since=job.look_error_since or now,
        next_look_at=now + wait,
    )
    publish(job.vault_id, Event.JOB, job.pk)


def cadence(token: Token) -> timedelta:
    """The time to the next look: the token's running jobs share what is left for watching."""
    running = Job.objects.filter(token=token, state=JobState.RUNNING).count()
    return timedelta(seconds=max(SHORTEST, 60 * running / WATCHING_A_MINUTE))


def refresh_media(job: Job) -> bool:
    """Re-read the address of a finished film that no longer answers; whether a new one was
    found."""
    try:
        reply = calls.call(
            job.token,
            WAYS[job.kind].operation,
            Lane.PERSON,
            patience=5,
            path={"id": str(job.remote_id)},
        )
    except (errors.UpstreamError, AllowanceExhausted):
        return False
    sight = read(job.kind, reply.data)
    if not sight.media_url:
        return False
    job.media_url, job.media_as_of = sight.media_url, timezone.now()
    job.save(update_fields=["media_url", "media_as_of"])
    return True
