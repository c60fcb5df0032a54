"""Reads of a script's job that are answered from here: the portal polls it anyway.

While a job runs, its last poll is the answer, as old as it is: that is when the portal itself sees
the end. A finished job does not change by itself, but its file's address may expire.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from proxyapi.gateway.answers import SOURCE_HEADER, passed_on
from proxyapi.gateway.call import Call
from proxyapi.gateway.jobs import find_job
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.kinds import KINDS
from proxyapi.models import Job, JobState, PolledAnswer
from proxyapi.upstream.reply import Answer

FINISHED_FOR = timedelta(minutes=10)


def may_be_polled(request: ServiceRequest) -> bool:
    """Whether this read may have an answer here. Without a query."""
    kind = request.operation.kind
    is_status_read = kind is not None and request.operation.name == KINDS[kind].read_operation
    return is_status_read and not request.query


def find_polled_answer(call: Call, request: ServiceRequest) -> Answer | None:
    """The last poll's answer to this read that `may_be_polled`, with its age in seconds; None to
    ask the service."""
    job = find_job(call.token, request.operation, next(iter(request.path.values())))
    row = PolledAnswer.objects.filter(job=job).first() if job else None
    if job is None or row is None or not is_current(job, row):
        return None
    call.job = job
    answer = passed_on(Answer(row.status, row.headers, bytes(row.body)))
    age_s = max(0, round((timezone.now() - row.read_at).total_seconds()))
    kept = {"content-type": answer.headers.get("content-type", "application/json")}
    return Answer(row.status, {**kept, "age": str(age_s), SOURCE_HEADER: "poll"}, answer.body)


def is_current(job: Job, row: PolledAnswer) -> bool:
    if job.started_at is None or row.read_at < job.started_at:
        return False  # of an earlier run
    if job.state == JobState.RUNNING:
        return not (job.poll_error or job.is_stalled or job.is_polling_stopped)
    return job.finished_at is not None and timezone.now() - row.read_at < FINISHED_FOR


def forget_polled_answer(call: Call, request: ServiceRequest) -> None:
    """The script changes the resource: what was polled before says no longer what it is."""
    if request.operation.kind and request.path:
        remote_id = next(iter(request.path.values()))
        jobs = Job.objects.filter(
            account=call.token.account_id, kind=request.operation.kind, remote_id=remote_id
        )
        PolledAnswer.objects.filter(job__in=jobs).delete()
