"""Render and retry: preconditions in the spec's order, then the charge, then the job.

draft ──render──▶ rendering ──▶ syncing ──▶ completed
                      │            │
                      └────────────┴─────▶ failed ──retry──▶ rendering
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import billing, catalogue, jobs, plans
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.characters import appearance
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.faceless import assets, cost, record
from proxyapi.sandbox.records import Charge, Job, Video
from proxyapi.sandbox.voice_clones import narrators
from proxyapi.sandbox.world import World
from proxyapi.sandbox.writer import language_detection

FEATURE = "faceless_render"
BUSY = ("rendering", "syncing")


def start_render(call: ApiCall, video: Video) -> Charge:
    return _start(call, video, _use(call, video, "Faceless video render"))


def retry_render(call: ApiCall, video: Video) -> Charge:
    """Run a failed render again, charging again."""
    use = _use(call, video, "Faceless video retry")
    check_preconditions(call, video, use)
    if video.status != "failed":
        raise Forbidden("Only a failed render can be retried.")
    return _start(call, video, use)


def _use(call: ApiCall, video: Video, label: str) -> FeatureUse:
    credits = cost.render_credits(call.world, video)
    return FeatureUse(FEATURE, credits, f"faceless:{video.id}", label, video.type)


def check_preconditions(call: ApiCall, video: Video, use: FeatureUse) -> None:
    """Every precondition of the spec's table, in its order, before anything is charged."""
    chosen = record.video_settings(video)
    if not (video.script or "").strip():
        raise Forbidden("A script is required before rendering.")
    if chosen["voice_id"] is None:
        raise Forbidden("Voice was not provided.")
    if narrators.find_narrator(call.world, video.account_id, chosen["voice_id"]) is None:
        raise Forbidden("Voice not found.")
    if video.type in ("ai-visuals", "ai-clips") and chosen["genre_id"] is None:
        raise ValidationError({"genre_id": ["A genre is required for AI visuals and AI clips."]})
    engineless = video.type == "ai-clips" and chosen["clip_engine_id"] is None
    if engineless and call.world.settings.clip_engine_required:
        raise ValidationError({"clip_engine_id": ["A clip engine is required for AI clips."]})
    plans.require_render(call)
    billing.require_credits(call, use)
    if video.type == "url-based" and not any(it.used for it in video.assets):
        raise ValidationError({"assets": ["Scrape the images of the page before rendering."]})
    if video.status in BUSY:
        raise Forbidden("The video is processing currently. Try again once finished.")


def _start(call: ApiCall, video: Video, use: FeatureUse) -> Charge:
    world = call.world
    check_preconditions(call, video, use)
    charge = billing.charge_credits(call, use)
    if video.type == "ai-visuals":
        assets.create_scene_images(call, video)
    seconds = cost.job_seconds(world, video)
    job = jobs.start_job(
        world, "faceless", video.id, seconds=seconds, film=film_description(world, video)
    )
    if call.account.lapsing:
        call.account.ends_at = world.now + seconds / 2
        world.accounts.put(call.account)
    jobs.supersede_job(world, video.job_id)
    video.job_id, video.failure = job.id, None
    video.status = jobs.current_status(world, job)
    video.updated_at = world.now
    world.videos.put(video)
    return charge


def film_description(
    world: World, video: Video, restyled: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The film's plain values, as the maker takes them."""
    chosen = record.video_settings(video) | (restyled or {})
    voice = narrators.find_narrator(world, video.account_id, chosen["voice_id"])
    asked = {name: chosen[name] or record.DEFAULTS[name] for name in _STYLE_SETTINGS}
    values = {name: value for name, value in asked.items() if value is not None}
    page = video.page or {}
    plain = values | {
        "script": video.script or "",
        "title": video.title or "",
        "language": (voice and voice.code) or language_detection.language_of(video.script or ""),
        "gender": voice.gender if voice else "female",
        "voice_seed": voice.seed if voice else 0,
        "genre": catalogue.genre_slug(chosen["genre_id"]) or _GENRES.get(video.type, "cinematic"),
        "watermark": _watermark(world, video, chosen["watermark_position"]),
        "captioned": chosen["captions"] is not False,
        "seed": world.named_random_source(f"film/{video.id}").getrandbits(32),
        "character": _character(world, video, chosen["character_id"]),
    }
    pictures = assets.film_assets(world, video)
    if video.type == "ai-visuals" and not any(
        it["roll"] or "file" in it or "still" in it for it in pictures
    ):
        return plain  # nothing was re-rolled or uploaded
    own = page.get("colour", "")
    manner, colour = (
        _FILM_KINDS[video.type],
        catalogue.background_colour(chosen["background_id"], own),
    )
    cut = {"kind": "cuts", "film": plain, "manner": manner, "colour": colour}
    if video.type == "ai-clips":
        cut["resolution"] = cost.clip_resolution(video)
    return cut | {"pictures": pictures}


def _character(world: World, video: Video, uuid: str | None) -> dict[str, Any] | None:
    """Who stands in the drawn scenes, as `media.portraits` takes it."""
    drawn = _FILM_KINDS[video.type] in ("scenes", "clips")
    return appearance.portrayal_of(world, video.account_id, uuid) if drawn and uuid else None


def _watermark(world: World, video: Video, position: str | None) -> str:
    """The site a video was made of, or the account's name where a place for it was chosen."""
    if video.type == "url-based":
        return str((video.page or {}).get("site", ""))
    account = world.accounts.get(video.account_id)
    return account.name if position and account else ""


_FILM_KINDS = {
    "ai-visuals": "scenes",
    "ai-clips": "clips",
    "b-roll": "footage",
    "url-based": "page",
}
_GENRES = {"b-roll": "nature-documentary"}


_STYLE_SETTINGS = (
    "aspect_ratio",
    "font",
    "caption_effect",
    "caption_position",
    "transition",
    "volume",
    "overlay",
    "animation",
    "sfx",
    "watermark_position",
)


def advance_render(world: World, job: Job) -> None:
    """Bring the video to where its job is now."""
    video = world.videos.get(job.resource_id)
    if video is None or video.job_id != job.id:
        jobs.end_job(world, job)
        return
    word = jobs.current_status(world, job)
    if word != video.status:
        video.status = word
        video.updated_at = world.now
        world.videos.put(video)
    if jobs.is_over(world, job):
        jobs.end_job(world, job)
        _finish(world, video, job)


def _finish(world: World, video: Video, job: Job) -> None:
    if video.status == "completed":
        video.file = job.file
        assets.promise_poster(world, video)
    if video.status == "failed":
        video.failure = job.failure or jobs.RENDER_FAILURE
        charge = billing.last_charge(world, f"faceless:{video.id}", FEATURE)
        if charge is not None and world.settings.failed_render_refunds:
            billing.refund_charge(world, charge, "Faceless video refund", video.type)
    world.videos.put(video)
