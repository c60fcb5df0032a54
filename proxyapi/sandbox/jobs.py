"""Jobs on the sandbox clock: a row of statuses that are gone through in the job's time.

The last status is reached when the time is over, and not before the job's file is made when it
is the word of the job's success. A scripted outcome replaces the statuses, also by words the
spec does not know; a single word is the last one, before which the job shows its usual first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from proxyapi.sandbox import file_names
from proxyapi.sandbox.records import Job, JobKind, Outcome
from proxyapi.sandbox.world import World


class JobCourse(NamedTuple):
    """How a job goes when all is well; the last word is its success.

    `shares` are the shares of the job's time after which the words in the middle are shown.
    """

    words: tuple[str, ...]
    shares: tuple[float, ...]


RENDER = JobCourse(("rendering", "syncing", "completed"), (0.85,))
_ROUNDING_S = 1e-5
RENDER_FAILURE = {"code": "RENDER-FAILED", "message": "The render failed. Try again."}


def start_job(
    world: World,
    kind: JobKind,
    resource_id: int,
    *,
    seconds: float,
    film: dict[str, Any] | None,
    course: JobCourse = RENDER,
    suffix: str = "mp4",
) -> Job:
    """Begin a job. `film` is what the maker is to make, by its `kind`; None makes nothing."""
    outcome = _take_outcome(world, kind, resource_id)
    job = Job(
        id=world.number("job"),
        kind=kind,
        resource_id=resource_id,
        statuses=_status_path(course.words[0], outcome.statuses) if outcome else list(course.words),
        shares=None if outcome else list(course.shares),
        success=course.words[-1],
        failure=outcome.failure if outcome else None,
        started_at=world.now,
        seconds=seconds,
        film=film,
        file=file_names.new_file_name(world, film, suffix) if film is not None else None,
        made=film is None,
    )
    world.schedule_job(job.id)
    return world.jobs.put(job)


def script_job(world: World, job: Job, statuses: list[str], failure: dict[str, str] | None) -> None:
    """Give a running job another way; before a single word it stays at its present one."""
    job.statuses = _status_path(current_status(world, job), statuses)
    job.shares, job.failure = None, failure
    world.jobs.put(job)
    world.schedule_job(job.id)


def _status_path(first: str, statuses: list[str]) -> list[str]:
    return [first, *statuses] if len(statuses) == 1 else list(statuses)


def current_status(world: World, job: Job) -> str:
    """The status that the job shows now."""
    last = len(job.statuses) - 1
    elapsed = _elapsed(world, job)
    if elapsed >= job.seconds and (job.made or job.statuses[last] != job.success):
        return job.statuses[last]
    share = min(elapsed / job.seconds, 0.999) if job.seconds else 0.999
    return job.statuses[sum(share >= it for it in _shares(job))]


def is_over(world: World, job: Job) -> bool:
    """Whether the job has shown its last status and will show no other."""
    in_time = _elapsed(world, job) >= job.seconds
    return in_time and (job.made or job.statuses[-1] != job.success)


def next_change_at(world: World, job: Job) -> float | None:
    """When the job shows another status; None if only its film is waited for."""
    instants = (job.started_at + share * job.seconds for share in (*_shares(job), 1.0))
    return next((it for it in instants if it > world.now), None)


def _elapsed(world: World, job: Job) -> float:
    """Seconds since the start, with a moment to spare: at the very instant a change is due,
    rounding must not hide it."""
    return world.now - job.started_at + _ROUNDING_S


def _shares(job: Job) -> list[float]:
    """When the words in the middle come; scripted words share the time evenly."""
    last = len(job.statuses) - 1
    return [k / last for k in range(1, last)] if job.shares is None else job.shares


def needs_file(job: Job) -> bool:
    return not job.ended and not job.made and job.statuses[-1] == job.success


def end_job(world: World, job: Job) -> None:
    job.ended = True
    world.jobs.put(job)


def supersede_job(world: World, job_id: int | None) -> None:
    """End a job that another takes the place of, if it has not ended."""
    job = world.jobs.get(job_id)
    if job is not None and not job.ended:
        end_job(world, job)


def _take_outcome(world: World, kind: JobKind, resource_id: int) -> Outcome | None:
    """The oldest outcome scripted for this resource, else for the next job of the kind."""
    fitting = [it for it in world.outcomes if it.kind == kind]
    for wanted in (resource_id, None):
        for outcome in fitting:
            if outcome.resource_id == wanted:
                world.outcomes.drop(outcome.id)
                return outcome
    return None
