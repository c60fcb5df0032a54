"""Clips of scenes, and the film of all scenes in their order: price, charge, job.

Which of the two charges is the setting `storyboard_charged`. The estimate is what a render
would charge now, exactly.
"""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import jobs, money, plans, references
from proxyapi.sandbox.errors import Forbidden, Invalid
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.jobs import Course
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge, Job
from proxyapi.sandbox.storyboards import editing, engine
from proxyapi.sandbox.storyboards.rows import Scene, SceneClip, Storyboard
from proxyapi.sandbox.world import World

FEATURE = "text_to_scene"
CLIP = Course(("queued", "processing", "completed"), (0.15,))


def render_credits(world: World, board: Storyboard) -> int:
    """The exact price of a render now."""
    return sum(engine.credits(world, board, scene) for scene in board.scenes if _due(world, scene))


def _due(world: World, scene: Scene) -> bool:
    paid = scene.clip is not None and scene.has_clip and scene.clip.paid > 0
    return world.settings.storyboard_charged == "at_render" or not paid


def render(call: Call, board: Storyboard) -> Charge:
    """Every precondition, then the charge, then the job."""
    world = call.world
    _check(call, board, board.scenes)
    editing.refuse_making(board.scenes)
    plans.require_render(call)
    use = _use(board, render_credits(world, board), "Storyboard render")
    money.require(call, use)
    charge = money.charge(call, use)
    seconds = world.settings.render_seconds + sum(
        world.settings.clip_seconds_per_second * scene.duration / 2 for scene in board.scenes
    )
    described = film(world, board, board.scenes)
    job = jobs.start(world, "storyboard", board.id, seconds=seconds, film=described)
    jobs.supersede(world, board.job_id)
    board.job_id, board.failure = job.id, None
    board.status = jobs.word(world, job)
    editing.touch(world, board)
    return charge


def make_clips(call: Call, board: Storyboard, wanted: list[int] | None) -> Charge | None:
    """Begin the clips of these scenes, or of all that have none. The charge covers all."""
    world = call.world
    scenes = [it for it in board.scenes if wanted is None or it.id in wanted]
    if wanted is not None and len(scenes) != len(set(wanted)):
        raise Invalid({"scenes": ["The selected scenes are invalid."]})
    _check(call, board, scenes)
    if wanted is not None:
        editing.refuse_making(scenes)
    begun = [it for it in scenes if wanted is not None or it.clip is None or not _going(it.clip)]
    charges = world.settings.storyboard_charged == "at_clips"
    prices = [engine.credits(world, board, scene) if charges else 0 for scene in begun]
    charge = None
    if charges:
        use = _use(board, sum(prices), "Scene clips")
        money.require(call, use)
        charge = money.charge(call, use)
    for scene, price in zip(begun, prices, strict=True):
        _begin_clip(world, board, scene, price)
        if charge is not None and scene.clip is not None:
            scene.clip.charge_id = charge.id
    editing.touch(world, board)
    return charge


def _begin_clip(world: World, board: Storyboard, scene: Scene, paid: int) -> None:
    choices = world.settings
    seconds = choices.clip_seconds + choices.clip_seconds_per_second * scene.duration
    described = film(world, board, [scene])
    job = jobs.start(world, "scene-clip", board.id, seconds=seconds, film=described, course=CLIP)
    scene.clip = SceneClip(status=jobs.word(world, job), job_id=job.id, paid=paid)


def _check(call: Call, board: Storyboard, scenes: list[Scene]) -> None:
    if not scenes:
        raise Invalid({"scenes": ["The storyboard has no scenes."]})
    _, menu = engine.of(board)
    for scene in scenes if menu.needed else ():
        if scene.first_frame is None and not scene.chained:
            text = "Each scene needs a first frame with this clip engine."
            raise Invalid({"scenes": [text]})
    if board.status in editing.BUSY:
        raise Forbidden(editing.PROCESSING)


def _going(clip: SceneClip) -> bool:
    return clip.making or clip.status == "completed"


def _use(board: Storyboard, credits: int, label: str) -> Use:
    return Use(FEATURE, credits, f"text-to-scene:{board.id}", label, "text-to-scene")


def film(world: World, board: Storyboard, scenes: list[Scene]) -> dict[str, Any]:
    """The film's plain values, as `media.storyboards` takes them."""
    return {
        "kind": "storyboards",
        "scenes": [
            {
                "prompt": scene.raw_video_prompt,
                "seconds": scene.duration,
                "chained": scene.chained and place > 0,
                "seed": world.steady_chance(f"scene/{scene.id}").getrandbits(32),
                "first": references.own(world, scene.first_frame),
                "last": references.own(world, scene.last_frame),
            }
            for place, scene in enumerate(scenes)
        ],
        "aspect_ratio": board.settings["aspect_ratio"],
        "resolution": board.settings["resolution"],
        "audio": board.settings["audio"] != "off",
        "seed": world.steady_chance(f"storyboard/{board.id}").getrandbits(32),
    }


def follow(world: World, job: Job) -> None:
    """Bring the storyboard's video to where its job is now."""
    board = world.storyboards.get(job.resource_id)
    if board is None or board.job_id != job.id:
        jobs.end(world, job)
        return
    word, over = jobs.word(world, job), jobs.over(world, job)
    if word == board.status and not over:
        return
    board.status = word
    if over:
        jobs.end(world, job)
        if board.status == "completed":
            board.file = job.file
        elif board.status == "failed":
            board.failure = job.failure or jobs.BROKEN
            if world.settings.failed_render_refunds:
                _refund_render(world, board)
    editing.touch(world, board)


def _refund_render(world: World, board: Storyboard) -> None:
    charge = money.last_charge(world, f"text-to-scene:{board.id}", FEATURE)
    if charge is not None:
        money.refund(world, charge, "Storyboard refund", "text-to-scene")


def follow_clip(world: World, job: Job) -> None:
    """Bring a scene's clip to where its job is now; what a failed one charged comes back."""
    board = world.storyboards.get(job.resource_id)
    scenes = board.scenes if board is not None else []
    clip = next((it.clip for it in scenes if it.clip and it.clip.job_id == job.id), None)
    if board is None or clip is None:
        jobs.end(world, job)
        return
    word, over = jobs.word(world, job), jobs.over(world, job)
    if word == clip.status and not over:
        return
    clip.status = word
    if over:
        jobs.end(world, job)
        if clip.status == "completed":
            clip.file = job.file
        elif clip.status == "failed":
            clip.failure = job.failure or jobs.BROKEN
            _refund_clip(world, board, clip)
    editing.touch(world, board)


def _refund_clip(world: World, board: Storyboard, clip: SceneClip) -> None:
    charge = world.charges.get(clip.charge_id or 0)
    if charge is not None:
        money.refund(world, charge, "Scene clip refund", "text-to-scene", clip.paid)
    clip.paid = 0
