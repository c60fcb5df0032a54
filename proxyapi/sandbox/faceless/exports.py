"""Exports: a restyled cut of a completed video.

The spec shows no resource for an export; here the record lists its exports with status and
url, and the video itself stays completed while one is made.
"""

from __future__ import annotations

from proxyapi.sandbox import billing, dialect, jobs, plans
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.errors import Forbidden
from proxyapi.sandbox.faceless import cost, rendering
from proxyapi.sandbox.faceless.changes import ExportStyle
from proxyapi.sandbox.records import Charge, Job, Video
from proxyapi.sandbox.world import World


def start_export(call: ApiCall, video: Video, style: ExportStyle) -> Charge:
    world = call.world
    if video.status in rendering.BUSY:
        raise Forbidden("The video is processing currently. Try again once finished.")
    if video.status != "completed":
        raise Forbidden("Only a completed video can be exported.")
    chosen = dialect.read_captions(world.settings.dialect, style.chosen())
    price = billing.get_price(world, "faceless_export")
    resource = f"faceless:{video.id}"
    use = FeatureUse("faceless_export", price, resource, "Faceless video export", video.type)
    plans.require_export(call)
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    restyled = rendering.film_description(world, video, chosen)
    seconds = cost.job_seconds(world, video)
    job = jobs.start_job(world, "export", video.id, seconds=seconds, film=restyled)
    status = jobs.current_status(world, job)
    video.exports.append({"id": job.id, "status": status, "file": None, "failure": None})
    video.updated_at = world.now
    world.videos.put(video)
    return charge


def advance_export(world: World, job: Job) -> None:
    """Bring the export to where its job is now."""
    video = world.videos.get(job.resource_id)
    entry = next((it for it in video.exports if it["id"] == job.id), None) if video else None
    if video is None or entry is None:
        jobs.end_job(world, job)
        return
    word = jobs.current_status(world, job)
    if word != entry["status"]:
        entry["status"] = word
        world.videos.put(video)
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        if word == "completed":
            entry["file"] = job.file
        elif word == "failed":
            entry["failure"] = job.failure or jobs.RENDER_FAILURE
        world.videos.put(video)
