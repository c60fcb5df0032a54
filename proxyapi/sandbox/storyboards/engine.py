"""The clip engine of a storyboard: what its settings and scenes may be, and their price."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES, ClipEngine
from proxyapi.sandbox.catalogue.modifiers import MENUS, ModifierMenus, find_rate
from proxyapi.sandbox.clips.order import ClipOrder, Modifiers, build_order
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.storyboards.rows import Scene, Storyboard
from proxyapi.sandbox.world import World

BY_ID = {engine.id: engine for engine in CLIP_ENGINES}
DEFAULT_ENGINE = "brook"

Value = Annotated[str, StringConstraints(max_length=20)]


class Settings(BaseModel):
    """What is left out takes the engine's default."""

    model_config = ConfigDict(strict=True)

    clip_engine_id: int | None = Field(default=None, description="From GET /faceless/options.")
    aspect_ratio: Value | None = None
    resolution: Value | None = None
    audio: Value | None = Field(default=None, description="on or off, if the engine has sound.")


def complete_settings(call: ApiCall, wanted: Settings) -> dict[str, Any]:
    """The settings, filled in. Raises Invalid by field, or 403 for an engine not in the plan."""
    usual = next(engine for engine in CLIP_ENGINES if engine.slug == DEFAULT_ENGINE)
    engine = BY_ID.get(wanted.clip_engine_id) if wanted.clip_engine_id is not None else usual
    if engine is None:
        raise ValidationError(
            {"settings.clip_engine_id": ["The selected clip engine id is invalid."]}
        )
    asked = wanted.model_dump(exclude={"clip_engine_id"}, exclude_none=True)
    try:
        ordered = build_order(call, engine.slug, Modifiers.model_construct(**asked))
    except ValidationError as error:
        renamed = {"model": "clip_engine_id"}
        raise ValidationError(
            {f"settings.{renamed.get(name, name)}": said for name, said in error.errors.items()}
        ) from None
    chosen = ordered.modifiers
    return {
        "clip_engine_id": engine.id,
        "aspect_ratio": chosen["aspect_ratio"],
        "resolution": chosen["resolution"],
        "audio": chosen.get("audio"),
    }


def engine_of(board: Storyboard) -> tuple[ClipEngine, ModifierMenus]:
    engine = BY_ID[board.settings["clip_engine_id"]]
    return engine, MENUS[engine.slug]


def scene_credits(world: World, board: Storyboard, scene: Scene) -> int:
    """What a clip of the scene costs, exactly."""
    engine, _ = engine_of(board)
    found = find_rate(engine, board.settings["resolution"], board.settings["audio"])
    if found is None:
        raise AssertionError(f"storyboard {board.id} has settings without a price")
    return ClipOrder(engine, {"duration": scene.duration}, found).credits(world)


def takes_first_frame(menu: ModifierMenus) -> bool:
    return "first_frame" in menu.frames or "image" in menu.frames


def nearest_duration(menu: ModifierMenus, seconds: int) -> int:
    """The duration of the menu that is nearest to a wish."""
    return min(menu.durations, key=lambda length: (abs(length - seconds), length))
