"""scenes/sort, frames and chain of a storyboard.

The spec shows no method for them. Each answers to the one that `scene_edit_method` names; the
others are 405.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import Field

from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.scene_shapes import StoryboardShown
from proxyapi.sandbox.api.text_to_scene import find
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.gate import Caller, gated
from proxyapi.sandbox.storyboards import editing, record
from proxyapi.sandbox.world import World

METHODS = ("PUT", "POST", "PATCH")


def serves(world: World, method: str) -> bool:
    return world.settings.scene_edit_method in ("any", method)


router = APIRouter(
    prefix="/text-to-scene",
    tags=["Text-to-scene"],
    route_class=gated(find=find, part=editing.find_scene, feature="text-to-scene", serves=serves),
)


class Order(Body):
    scenes: Annotated[list[int], Field(max_length=1000)] = Field(description="All ids, in order.")


class Frames(Body):
    """Addresses of pictures; null takes one away, what is left out stays."""

    first_frame: str | None = Field(default=None, max_length=2048, pattern=r"^https?://[^\s/]+")
    last_frame: str | None = Field(default=None, max_length=2048, pattern=r"^https?://[^\s/]+")


class Chain(Body):
    chained: bool = True


async def sort_scenes(call: Caller, wanted: Order) -> Response:
    editing.sort(call, call.owned, wanted.scenes)
    return success(record.show(call, call.owned), "Scenes sorted")


async def assign_frames(call: Caller, wanted: Frames) -> Response:
    chosen = {name: getattr(wanted, name) for name in wanted.model_fields_set}
    editing.frame(call, call.owned, call.part, chosen)
    return success(record.show(call, call.owned), "Frames assigned")


async def chain_scene(call: Caller, wanted: Chain | None = None) -> Response:
    editing.chain(call, call.owned, call.part, wanted.chained if wanted else True)
    return success(record.show(call, call.owned), "Scene chained")


def _route(path: str, handler: Callable[..., Any]) -> None:
    for method in METHODS:
        router.add_api_route(
            path,
            handler,
            methods=[method],
            name=f"{handler.__name__}_by_{method.lower()}",
            response_model=StoryboardShown,
            responses={405: {"model": shapes.RefusalShape}},
        )


_route("/{storyboard}/scenes/sort", sort_scenes)
_route("/{storyboard}/scenes/{scene}/frames", assign_frames)
_route("/{storyboard}/scenes/{scene}/chain", chain_scene)
