"""Scenes added, put in order, given frames, chained."""

from __future__ import annotations

from proxyapi.sandbox import billing
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.errors import Forbidden, ValidationError
from proxyapi.sandbox.records import Charge
from proxyapi.sandbox.storyboards import engine, wizard
from proxyapi.sandbox.storyboards.rows import Scene, Storyboard
from proxyapi.sandbox.world import World

BUSY = ("rendering", "syncing")
PROCESSING = "The storyboard is processing currently. Try again once finished."


def find_scene(_: World, board: Storyboard, key: str) -> Scene | None:
    return next((it for it in board.scenes if str(it.id) == key), None)


def write_scenes(call: ApiCall, board: Storyboard, prompt: str, count: int | None) -> Charge | None:
    """Wizard mode: put the scenes of a prompt in place of those that are there."""
    world = call.world
    _require(call, board, "wizard")
    refuse_scenes_in_progress(board.scenes)
    _require_room(call, count or 0)
    charge = None
    if world.settings.wizard_prompt_charged:
        price = billing.get_price(world, "content_prompt_requested")
        resource, label = f"text-to-scene:{board.id}", "Storyboard prompt"
        use = FeatureUse("content_prompt_requested", price, resource, label, "content-prompt")
        billing.require_credits(call, use)
        charge = billing.charge_credits(call, use)
    _, menu = engine.engine_of(board)
    usual = min(world.settings.wizard_scenes, world.settings.scenes_per_storyboard)
    told = wizard.plan_scenes(prompt, count, usual, world.random_source("wizard"))
    told = told[: world.settings.scenes_per_storyboard]
    board.prompt = prompt
    board.scenes = [
        _scene(world, text, engine.nearest_duration(menu, length)) for text, length in told
    ]
    touch_storyboard(world, board)
    return charge


def add_scenes(
    call: ApiCall, board: Storyboard, wanted: list[tuple[str, int | None]], *, alone: bool = False
) -> None:
    """Manual mode: add scenes at the end. A duration left out is the engine's default.

    `alone`: the one scene was sent without a list, so its fields have their own names.
    """
    _require(call, board, "manual")
    _require_room(call, len(board.scenes) + len(wanted))
    _, menu = engine.engine_of(board)
    errors = {}
    for place, (_, duration) in enumerate(wanted):
        if duration is not None and duration not in menu.durations:
            text = "The duration is not one that the clip engine supports."
            errors["duration" if alone else f"scenes.{place}.duration"] = [text]
    if errors:
        raise ValidationError(errors)
    new = [_scene(call.world, text, duration or menu.duration) for text, duration in wanted]
    board.scenes += new
    touch_storyboard(call.world, board)


def sort_scenes(call: ApiCall, board: Storyboard, order: list[int]) -> None:
    """Put the scenes in an order, which names each of them once."""
    refuse_busy_storyboard(call, board)
    by_id = {scene.id: scene for scene in board.scenes}
    if sorted(order) != sorted(by_id):
        raise ValidationError(
            {"scenes": ["The scenes must be all scenes of the storyboard, each once."]}
        )
    board.scenes = [by_id[number] for number in order]
    if board.scenes:
        board.scenes[0].chained = False
    touch_storyboard(call.world, board)


def assign_frames(
    call: ApiCall, board: Storyboard, scene: Scene, changes: dict[str, str | None]
) -> None:
    """Assign first and last frames, as far as the engine takes them; None takes one away."""
    refuse_busy_storyboard(call, board)
    refuse_scenes_in_progress([scene])
    _, menu = engine.engine_of(board)
    supported = {
        "first_frame": engine.takes_first_frame(menu),
        "last_frame": "last_frame" in menu.frames,
    }
    if not changes:
        raise ValidationError({"first_frame": ["A first or a last frame is required."]})
    for name, value in changes.items():
        if value is not None and not supported[name]:
            raise ValidationError({name: ["The clip engine does not take this frame."]})
    for name, value in changes.items():
        setattr(scene, name, value)
    scene.clip = None
    touch_storyboard(call.world, board)


def chain_scene(call: ApiCall, board: Storyboard, scene: Scene, chained: bool) -> None:
    """Have a scene go on where the one before it ends, or no longer."""
    refuse_busy_storyboard(call, board)
    refuse_scenes_in_progress([scene])
    _, menu = engine.engine_of(board)
    if chained and board.scenes[0] is scene:
        raise ValidationError({"scene": ["The first scene has none before it to go on from."]})
    if chained and not engine.takes_first_frame(menu):
        raise ValidationError({"scene": ["The clip engine does not take a first frame."]})
    scene.chained, scene.clip = chained, None
    touch_storyboard(call.world, board)


def refuse_busy_storyboard(call: ApiCall, board: Storyboard) -> None:
    refused = call.world.settings.storyboard_patch_while_busy == "refused"
    if board.status in BUSY and refused:
        raise Forbidden(PROCESSING)


def refuse_scenes_in_progress(scenes: list[Scene]) -> None:
    """403 while the clip of one of these is being made."""
    if any(scene.clip is not None and scene.clip.is_in_progress for scene in scenes):
        raise Forbidden(PROCESSING)


def touch_storyboard(world: World, board: Storyboard) -> None:
    board.updated_at = world.now
    world.storyboards.put(board)


def _require(call: ApiCall, board: Storyboard, mode: str) -> None:
    if board.mode != mode:
        raise ValidationError({"mode": [f"This is for storyboards in {mode} mode."]})
    refuse_busy_storyboard(call, board)


def _require_room(call: ApiCall, count: int) -> None:
    most = call.world.settings.scenes_per_storyboard
    if count > most:
        raise ValidationError({"scenes": [f"A storyboard must not have more than {most} scenes."]})


def _scene(world: World, prompt: str, duration: int) -> Scene:
    number = world.plausible_id("scene", 90_300)
    return Scene(id=number, raw_video_prompt=prompt, duration=duration)
