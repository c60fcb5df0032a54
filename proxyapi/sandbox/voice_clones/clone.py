"""The clone: made from samples, completed after a while, then one of the account's voices.

pending ──▶ processing ──▶ completed: preview_url and voice_id are set
                  └──────▶ failed: the slot is free again
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from proxyapi.sandbox import dialect, jobs, media_url
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.jobs import JobCourse
from proxyapi.sandbox.records import Job
from proxyapi.sandbox.resource_rows import Clone
from proxyapi.sandbox.world import World

CLONE_COURSE = JobCourse(("pending", "processing", "completed"), (0.2,))
CLONE_FAILURE = {"code": "CLONE-FAILED", "message": "The samples could not be cloned. Try others."}


def create_clone(call: ApiCall, name: str, gender: str, samples: list[bytes]) -> Clone:
    """Begin a clone; the same samples give the same voice."""
    world = call.world
    number = world.plausible_id("clone", 640)
    seed = int.from_bytes(sha256(b"\0".join(samples)).digest()[:4], "big")
    film = {"kind": "samples", "name": name, "gender": gender, "seed": seed}
    seconds = world.settings.clone_seconds
    job = jobs.start_job(
        world, "voice-clone", number, seconds=seconds, film=film, course=CLONE_COURSE, suffix="wav"
    )
    return world.clones.put(
        Clone(
            id=number,
            account_id=call.account.id,
            voice_id=world.plausible_id("voice", 90_000),
            name=name,
            gender=gender,
            seed=seed,
            status=jobs.current_status(world, job),
            job_id=job.id,
            created_at=world.now,
        )
    )


def show_clone(call: ApiCall, clone: Clone) -> dict[str, Any]:
    ready = clone.status == "completed"
    return {
        "id": clone.id,
        "name": clone.name,
        "gender": clone.gender,
        "status": dialect.status_word(call.world.settings.dialect, "clone", clone.status),
        "preview_url": media_url.build_media_url(call, clone.file)
        if ready and clone.file
        else None,
        "voice_id": clone.voice_id if ready else None,
        "failure": clone.failure,
        "created_at": format_iso(clone.created_at),
    }


def advance_clone(world: World, job: Job) -> None:
    """Bring the clone to where its job is now."""
    clone = world.clones.get(job.resource_id)
    if clone is None:
        jobs.end_job(world, job)
        return
    word = jobs.current_status(world, job)
    if word != clone.status:
        clone.status = word
        world.clones.put(clone)
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        if word == "completed":
            clone.file = job.file
        elif word == "failed":
            clone.failure = job.failure or CLONE_FAILURE
        world.clones.put(clone)
