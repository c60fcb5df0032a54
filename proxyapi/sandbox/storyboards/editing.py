"""Scenes added, put in order, given frames, chained."""

from __future__ import annotations

from proxyapi.sandbox import money
from proxyapi.sandbox.errors import Forbidden, Invalid
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge
from proxyapi.sandbox.storyboards import engine, wizard
from proxyapi.sandbox.storyboards.rows import Scene, Storyboard
from proxyapi.sandbox.world import World

BUSY = ("rendering", "syncing")
PROCESSING = "The storyboard is processing currently. Try again once finished."


def find_scene(_: World, board: Storyboard, key: str) -> Scene | None:
    return next((it for it in board.scenes if str(it.id) == key), None)


def write(call: Call, board: Storyboard, prompt: str, count: int | None) -> Charge | None:
    """Wizard mode: put the scenes of a prompt in place of those that are there."""
    world = call.world
    _require(call, board, "wizard")
    refuse_making(board.scenes)
    _require_room(call, count or 0)
    charge = None
    if world.settings.wizard_prompt_charged:
        price = money.price(world, "content_prompt_requested")
        resource, label = f"text-to-scene:{board.id}", "Storyboard prompt"
        use = Use("content_prompt_requested", price, resource, label, "content-prompt")
        money.require(call, use)
        charge = money.charge(call, use)
    _, menu = engine.of(board)
    usual = min(world.settings.wizard_scenes, world.settings.scenes_per_storyboard)
    told = wizard.scenes(prompt, count, usual, world.chance("wizard"))
    told = told[: world.settings.scenes_per_storyboard]
    board.prompt = prompt
    board.scenes = [_scene(world, text, engine.nearest(menu, length)) for text, length in told]
    touch(world, board)
    return charge


def add(
    call: Call, board: Storyboard, wanted: list[tuple[str, int | None]], *, alone: bool = False
) -> None:
    """Manual mode: add scenes at the end. A duration left out is the engine's default.

    `alone`: the one scene was sent without a list, so its fields have their own names.
    """
    _require(call, board, "manual")
    _require_room(call, len(board.scenes) + len(wanted))
    _, menu = engine.of(board)
    errors = {}
    for place, (_, duration) in enumerate(wanted):
        if duration is not None and duration not in menu.durations:
            text = "The duration is not one that the clip engine supports."
            errors["duration" if alone else f"scenes.{place}.duration"] = [text]
    if errors:
        raise Invalid(errors)
    new = [_scene(call.world, text, duration or menu.duration) for text, duration in wanted]
    board.scenes += new
    touch(call.world, board)


def sort(call: Call, board: Storyboard, order: list[int]) -> None:
    """Put the scenes in an order, which names each of them once."""
    refuse_busy(call, board)
    by_id = {scene.id: scene for scene in board.scenes}
    if sorted(order) != sorted(by_id):
        raise Invalid({"scenes": ["The scenes must be all scenes of the storyboard, each once."]})
    board.scenes = [by_id[number] for number in order]
    if board.scenes:
        board.scenes[0].chained = False
    touch(call.world, board)


def frame(call: Call, board: Storyboard, scene: Scene, changes: dict[str, str | None]) -> None:
    """Assign first and last frames, as far as the engine takes them; None takes one away."""
    refuse_busy(call, board)
    refuse_making([scene])
    _, menu = engine.of(board)
    supported = {
        "first_frame": engine.takes_first_frame(menu),
        "last_frame": "last_frame" in menu.frames,
    }
    if not changes:
        raise Invalid({"first_frame": ["A first or a last frame is required."]})
    for name, value in changes.items():
        if value is not None and not supported[name]:
            raise Invalid({name: ["The clip engine does not take this frame."]})
    for name, value in changes.items():
        setattr(scene, name, value)
    scene.clip = None
    touch(call.world, board)


def chain(call: Call, board: Storyboard, scene: Scene, chained: bool) -> None:
    """Have a scene go on where the one before it ends, or no longer."""
    refuse_busy(call, board)
    refuse_making([scene])
    _, menu = engine.of(board)
    if chained and board.scenes[0] is scene:
        raise Invalid({"scene": ["The first scene has none before it to go on from."]})
    if chained and not engine.takes_first_frame(menu):
        raise Invalid({"scene": ["The clip engine does not take a first frame."]})
    scene.chained, scene.clip = chained, None
    touch(call.world, board)


def refuse_busy(call: Call, board: Storyboard) -> None:
    refused = call.world.settings.storyboard_patch_while_busy == "refused"
    if board.status in BUSY and refused:
        raise Forbidden(PROCESSING)


def refuse_making(scenes: list[Scene]) -> None:
    """403 while the clip of one of these is being made."""
    if any(scene.clip is not None and scene.clip.making for scene in scenes):
        raise Forbidden(PROCESSING)


def touch(world: World, board: Storyboard) -> None:
    board.updated_at = world.now
    world.storyboards.put(board)


def _require(call: Call, board: Storyboard, mode: str) -> None:
    if board.mode != mode:
        raise Invalid({"mode": [f"This is for storyboards in {mode} mode."]})
    refuse_busy(call, board)


def _require_room(call: Call, count: int) -> None:
    most = call.world.settings.scenes_per_storyboard
    if count > most:
        raise Invalid({"scenes": [f"A storyboard must not have more than {most} scenes."]})


def _scene(world: World, prompt: str, duration: int) -> Scene:
    number = world.plausible_id("scene", 90_300)
    return Scene(id=number, raw_video_prompt=prompt, duration=duration)
