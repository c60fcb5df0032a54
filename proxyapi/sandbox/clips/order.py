"""An order for a clip: its model and modifiers held against the menu, and its exact price.

Modifiers that are left out take the menu's default. One that the model has no menu for is
refused, and so is a combination that has no price.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import plans
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.catalogue import modifiers as menus
from proxyapi.sandbox.catalogue.engines import ClipEngine
from proxyapi.sandbox.errors import FeatureNotAllowed, ValidationError
from proxyapi.sandbox.world import World

Reference = Field(default=None, max_length=2048, pattern=r"^https?://[^\s/]+")


class Modifiers(BaseModel):
    """What may be chosen besides the model. References are addresses; they are not fetched."""

    model_config = ConfigDict(strict=True)

    duration: int | None = Field(default=None, description="Seconds, as the model's menu has it.")
    resolution: str | None = None
    aspect_ratio: str | None = None
    audio: Literal["on", "off"] | None = None
    first_frame: str | None = Reference
    last_frame: str | None = Reference
    image: str | None = Reference
    video: str | None = Reference


class ClipOrder(NamedTuple):
    engine: ClipEngine
    modifiers: dict[str, Any]  # defaults filled in
    rate: Fraction  # credits per second

    def credits(self, world: World) -> int:
        exact = self.rate * int(self.modifiers["duration"])
        if world.settings.clip_rounding == "nearest":
            return math.floor(exact + Fraction(1, 2))
        return math.ceil(exact)


def build_order(call: ApiCall, model: str, wanted: Modifiers) -> ClipOrder:
    """Raises Invalid by field, or FeatureNotAllowed for a model outside the plan."""
    engine = menus.BY_SLUG.get(model)
    if engine is None:
        raise ValidationError({"model": ["The selected model is invalid."]})
    if not plans.has_model(call.world, call.account, model):
        if call.world.settings.model_outside_plan == "forbidden":
            raise FeatureNotAllowed("This model is not in your plan.")
        raise ValidationError({"model": ["The selected model is invalid."]})
    chosen = _chosen_modifiers(engine, wanted)
    rate = menus.find_rate(engine, chosen["resolution"], chosen.get("audio"))
    if rate is None:
        text = f"The resolution {chosen['resolution']} is not available with this audio."
        raise ValidationError({"resolution": [text]})
    return ClipOrder(engine, chosen, rate)


def require_references(order: ClipOrder) -> None:
    """Raise Invalid if the model does not work without a reference that is missing."""
    needed = menus.MENUS[order.engine.slug].needed
    if needed is not None and order.modifiers.get(needed) is None:
        raise ValidationError({needed: [f"The {needed.replace('_', ' ')} field is required."]})


def _chosen_modifiers(engine: ClipEngine, wanted: Modifiers) -> dict[str, Any]:
    menu = menus.MENUS[engine.slug]
    offered: dict[str, tuple[Any, ...]] = {
        "duration": menu.durations,
        "resolution": menu.resolutions,
        "aspect_ratio": menu.aspect_ratios,
        "audio": menu.audio,
    }
    chosen: dict[str, Any] = {"duration": menu.duration}
    chosen |= {name: values[0] for name, values in offered.items() if values} | chosen
    errors = {}
    for name, value in wanted.model_dump(include=set(Modifiers.model_fields)).items():
        if value is None:
            continue
        if value in offered.get(name, ()) or name in menu.frames:
            chosen[name] = value
        else:
            errors[name] = [f"The selected {name.replace('_', ' ')} is invalid."]
    if errors:
        raise ValidationError(errors)
    return chosen
