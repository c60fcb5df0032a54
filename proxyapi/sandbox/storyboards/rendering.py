"""Clips of scenes, and the film of all scenes in their order: price, charge, job.

Which of the two charges is the setting `storyboard_charged`. The estimate is what a render
would charge now, exactly.
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import billing, jobs, plans, references
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.jobs import JobCourse
from proxyapi.sandbox.records import Charge, Job
from proxyapi.sandbox.storyboards import editing, engine
from proxyapi.sandbox.storyboards.rows import Scene, SceneClip, Storyboard
from proxyapi.sandbox.world import World

FEATURE = "text_to_scene"
CLIP_COURSE = JobCourse(("queued", "processing", "completed"), (0.15,))


def render_credits(world: World, board: Storyboard) -> int:
    """The exact price of a render now."""
    return sum(
        engine.scene_credits(world, board, scene) for scene in board.scenes if _due(world, scene)
    )


def _due(world: World, scene: Scene) -> bool:
    paid = scene.clip is not None and scene.has_clip and scene.clip.paid > 0
    return world.settings.storyboard_charged == "at_render" or not paid


def start_render(call: ApiCall, board: Storyboard) -> Charge:
    """Every precondition, then the charge, then the job."""
    world = call.world
    _check(call, board, board.scenes)
    editing.refuse_scenes_in_progress(board.scenes)
    plans.require_render(call)
    use = _use(board, render_credits(world, board), "Storyboard render")
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    seconds = world.settings.render_seconds + sum(
        world.settings.clip_seconds_per_second * scene.duration / 2 for scene in board.scenes
    )
    described = film_description(world, board, board.scenes)
    job = jobs.start_job(world, "storyboard", board.id, seconds=seconds, film=described)
    jobs.supersede_job(world, board.job_id)
    board.job_id, board.failure = job.id, None
    board.status = jobs.current_status(world, job)
    editing.touch_storyboard(world, board)
    return charge


def make_clips(call: ApiCall, board: Storyboard, wanted: list[int] | None) -> Charge | None:
    """Begin the clips of these scenes, or of all that have none. The charge covers all."""
    world = call.world
    scenes = [it for it in board.scenes if wanted is None or it.id in wanted]
    if wanted is not None and len(scenes) != len(set(wanted)):
        raise ValidationError({"scenes": ["The selected scenes are invalid."]})
    _check(call, board, scenes)
    if wanted is not None:
        editing.refuse_scenes_in_progress(scenes)
    begun = [
        it for it in scenes if wanted is not None or it.clip is None or not _is_in_progress(it.clip)
    ]
    charges = world.settings.storyboard_charged == "at_clips"
    prices = [engine.scene_credits(world, board, scene) if charges else 0 for scene in begun]
    charge = None
    if charges:
        use = _use(board, sum(prices), "Scene clips")
        billing.require_credits(call, use)
        charge = billing.charge_credits(call, use)
    for scene, price in zip(begun, prices, strict=True):
        _begin_clip(world, board, scene, price)
        if charge is not None and scene.clip is not None:
            scene.clip.charge_id = charge.id
    editing.touch_storyboard(world, board)
    return charge


def _begin_clip(world: World, board: Storyboard, scene: Scene, paid: int) -> None:
    choices = world.settings
    seconds = choices.clip_seconds + choices.clip_seconds_per_second * scene.duration
    described = film_description(world, board, [scene])
    job = jobs.start_job(
        world, "scene-clip", board.id, seconds=seconds, film=described, course=CLIP_COURSE
    )
    scene.clip = SceneClip(status=jobs.current_status(world, job), job_id=job.id, paid=paid)


def _check(call: ApiCall, board: Storyboard, scenes: list[Scene]) -> None:
    if not scenes:
        raise ValidationError({"scenes": ["The storyboard has no scenes."]})
    _, menu = engine.engine_of(board)
    for scene in scenes if menu.needed else ():
        if scene.first_frame is None and not scene.chained:
            text = "Each scene needs a first frame with this clip engine."
            raise ValidationError({"scenes": [text]})
    if board.status in editing.BUSY:
        raise Forbidden(editing.PROCESSING)


def _is_in_progress(clip: SceneClip) -> bool:
    return clip.is_in_progress or clip.status == "completed"


def _use(board: Storyboard, credits: int, label: str) -> FeatureUse:
    return FeatureUse(FEATURE, credits, f"text-to-scene:{board.id}", label, "text-to-scene")


def film_description(world: World, board: Storyboard, scenes: list[Scene]) -> dict[str, Any]:
    """The film's plain values, as `media.storyboards` takes them."""
    return {
        "kind": "storyboards",
        "scenes": [
            {
                "prompt": scene.raw_video_prompt,
                "seconds": scene.duration,
                "chained": scene.chained and place > 0,
                "seed": world.named_random_source(f"scene/{scene.id}").getrandbits(32),
                "first": references.own_reference(world, scene.first_frame),
                "last": references.own_reference(world, scene.last_frame),
            }
            for place, scene in enumerate(scenes)
        ],
        "aspect_ratio": board.settings["aspect_ratio"],
        "resolution": board.settings["resolution"],
        "audio": board.settings["audio"] != "off",
        "seed": world.named_random_source(f"storyboard/{board.id}").getrandbits(32),
    }


def advance_render(world: World, job: Job) -> None:
    """Bring the storyboard's video to where its job is now."""
    board = world.storyboards.get(job.resource_id)
    if board is None or board.job_id != job.id:
        jobs.end_job(world, job)
        return
    word, over = jobs.current_status(world, job), jobs.is_over(world, job)
    if word == board.status and not over:
        return
    board.status = word
    if over:
        jobs.end_job(world, job)
        if board.status == "completed":
            board.file = job.file
        elif board.status == "failed":
            board.failure = job.failure or jobs.RENDER_FAILURE
            if world.settings.failed_render_refunds:
                _refund_render(world, board)
    editing.touch_storyboard(world, board)


def _refund_render(world: World, board: Storyboard) -> None:
    charge = billing.last_charge(world, f"text-to-scene:{board.id}", FEATURE)
    if charge is not None:
        billing.refund_charge(world, charge, "Storyboard refund", "text-to-scene")


def advance_clip(world: World, job: Job) -> None:
    """Bring a scene's clip to where its job is now; what a failed one charged comes back."""
    board = world.storyboards.get(job.resource_id)
    scenes = board.scenes if board is not None else []
    clip = next((it.clip for it in scenes if it.clip and it.clip.job_id == job.id), None)
    if board is None or clip is None:
        jobs.end_job(world, job)
        return
    word, over = jobs.current_status(world, job), jobs.is_over(world, job)
    if word == clip.status and not over:
        return
    clip.status = word
    if over:
        jobs.end_job(world, job)
        if clip.status == "completed":
            clip.file = job.file
        elif clip.status == "failed":
            clip.failure = job.failure or jobs.RENDER_FAILURE
            _refund_clip(world, board, clip)
    editing.touch_storyboard(world, board)


def _refund_clip(world: World, board: Storyboard, clip: SceneClip) -> None:
    charge = world.charges.get(clip.charge_id or 0)
    if charge is not None:
        billing.refund_charge(world, charge, "Scene clip refund", "text-to-scene", clip.paid)
    clip.paid = 0
