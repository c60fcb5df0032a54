"""Jobs on the sandbox clock: a row of statuses that are gone through in the job's time.

The last status is reached when the time is over, and not before the job's file is made when it
is `completed`. A scripted outcome replaces the statuses, also by words the spec does not know.
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox.records import Job, Outcome
from proxyapi.sandbox.world import World

RENDER = ["rendering", "syncing", "completed"]
SYNCING_FROM = 0.85  # the share of a render after which it is syncing
BROKEN = {"code": "RENDER-FAILED", "message": "The render failed. Try again."}


def start(
    world: World,
    kind: str,
    resource_id: int,
    *,
    seconds: float,
    film: dict[str, Any],
) -> Job:
    outcome = _take_outcome(world, kind, resource_id)
    name = world.chance("file").randbytes(16).hex()
    job = Job(
        id=world.number("job"),
        kind=kind,
        resource_id=resource_id,
        statuses=list(outcome.statuses) if outcome else list(RENDER),
        failure=outcome.failure if outcome else None,
        started_at=world.now,
        seconds=seconds,
        film=film,
        file=f"{name}.mp4",
    )
    world.look_at(job.id)
    return world.jobs.put(job)


def word(world: World, job: Job) -> str:
    """The status that the job shows now."""
    last = len(job.statuses) - 1
    elapsed = world.now - job.started_at
    if elapsed >= job.seconds and (job.made or job.statuses[last] != "completed"):
        return job.statuses[last]
    if not last:
        return job.statuses[0] if job.statuses[0] != "completed" else "rendering"
    share = min(elapsed / job.seconds, 0.999) if job.seconds else 0.999
    if job.statuses == RENDER:
        return RENDER[share >= SYNCING_FROM]
    return job.statuses[int(share * last)]


def over(world: World, job: Job) -> bool:
    """Whether the job has shown its last status and will show no other."""
    in_time = world.now - job.started_at >= job.seconds
    return in_time and (job.made or job.statuses[-1] != "completed")


def next_change(world: World, job: Job) -> float | None:
    """When the job shows another status; None if only its film is waited for."""
    last = len(job.statuses) - 1
    shares = [SYNCING_FROM] if job.statuses == RENDER else [k / last for k in range(1, last)]
    # A moment later than the change, so that rounding does not look too soon.
    instants = (job.started_at + share * job.seconds + 1e-5 for share in (*shares, 1.0))
    return next((it for it in instants if it > world.now), None)


def needs_file(job: Job) -> bool:
    return not job.ended and not job.made and job.statuses[-1] == "completed"


def end(world: World, job: Job) -> None:
    job.ended = True
    world.jobs.put(job)


def _take_outcome(world: World, kind: str, resource_id: int) -> Outcome | None:
    """The oldest outcome scripted for this resource, else for the next job of the kind."""
    fitting = [it for it in world.outcomes if it.kind == kind]
    for wanted in (resource_id, None):
        for outcome in fitting:
            if outcome.resource_id == wanted:
                world.outcomes.drop(outcome.id)
                return outcome
    return None
