"""The text-to-video asset: made by an order, followed by its job, refunded when it fails.

draft ──▶ processing ──▶ success
                   └───▶ failed: the charge comes back by itself
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import billing, jobs, media_url, plans, references
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.clips.order import ClipOrder
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.jobs import JobCourse
from proxyapi.sandbox.records import Charge, Job
from proxyapi.sandbox.resource_rows import Clip
from proxyapi.sandbox.world import World

FEATURE = "text_to_video"
CLIP_COURSE = JobCourse(("draft", "processing", "success"), (0.2,))
REFUND_COURSE = JobCourse(("waiting", "refunded"), ())
CLIP_FAILURE = {"code": "GENERATION-FAILED", "message": "The model could not make this clip."}


def create_clip(call: ApiCall, order: ClipOrder, prompt: str) -> tuple[Clip, Charge]:
    """Charge the exact price and begin; raises 403 for a full quota and 402."""
    world = call.world
    number = world.plausible_id("clip", 8_800)
    credits = order.credits(world)
    use = FeatureUse(FEATURE, credits, f"text-to-video:{number}", "Text to video", "text-to-video")
    plans.require_clip(call)
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    clip = Clip(
        id=number,
        account_id=call.account.id,
        model=order.engine.slug,
        prompt=prompt,
        modifiers=order.modifiers,
        charge_id=charge.id,
        created_at=world.now,
    )
    choices, length = world.settings, int(order.modifiers["duration"])
    seconds = choices.clip_seconds + choices.clip_seconds_per_second * length
    film = _film(world, clip)
    job = jobs.start_job(
        world, "text-to-video", number, seconds=seconds, film=film, course=CLIP_COURSE
    )
    clip.job_id = job.id
    return world.clips.put(clip), charge


def _film(world: World, clip: Clip) -> dict[str, Any]:
    chosen = clip.modifiers
    begins = (chosen[name] for name in ("first_frame", "image", "video") if name in chosen)
    first = next(begins, None)
    return {
        "kind": "clips",
        "prompt": clip.prompt,
        "seconds": chosen["duration"],
        "aspect_ratio": chosen["aspect_ratio"],
        "resolution": chosen["resolution"],
        "audio": chosen.get("audio") == "on",
        "seed": world.named_random_source(f"clip/{clip.id}").getrandbits(32),
        "first": references.own_reference(world, first),
        "last": references.own_reference(world, chosen.get("last_frame")),
    }


def show_clip(call: ApiCall, clip: Clip) -> dict[str, Any]:
    """data.asset. `url` is set only when the status is success."""
    failure: dict[str, str] | str | None = clip.failure
    if clip.failure is not None and call.world.settings.clip_failure_shape == "text":
        failure = clip.failure["message"]
    ready = clip.status == "success" and clip.file
    return {
        "id": clip.id,
        "model": clip.model,
        "prompt": clip.prompt,
        "modifiers": clip.modifiers,
        "status": clip.status,
        "url": media_url.build_media_url(call, str(clip.file)) if ready else None,
        "failure": failure,
        "created_at": format_iso(clip.created_at),
    }


def advance_clip(world: World, job: Job) -> None:
    """Bring the asset to where its job is now."""
    clip = world.clips.get(job.resource_id)
    if clip is None:
        jobs.end_job(world, job)
        return
    word = jobs.current_status(world, job)
    if word != clip.status:
        clip.status = word
        world.clips.put(clip)
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        if clip.status == "success":
            clip.file = job.file
        elif clip.status == "failed":
            clip.failure = job.failure or CLIP_FAILURE
            _refund(world, clip)
        world.clips.put(clip)


def _refund(world: World, clip: Clip) -> None:
    delay = world.settings.clip_refund_seconds
    if delay:
        jobs.start_job(
            world, "refund", clip.charge_id, seconds=delay, film=None, course=REFUND_COURSE
        )
    else:
        refund_charge(world, clip.charge_id)


def advance_refund(world: World, job: Job) -> None:
    """Give the credits back when the delay is over; the job's resource is the charge."""
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        refund_charge(world, job.resource_id)


def refund_charge(world: World, charge_id: int) -> None:
    charge = world.charges.get(charge_id)
    if charge is not None:
        billing.refund_charge(world, charge, "Text to video refund", "text-to-video")
