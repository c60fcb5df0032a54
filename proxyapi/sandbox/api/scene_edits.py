"""scenes/sort, frames and chain of a storyboard.

The spec shows no method for them. Each answers to the one that `scene_edit_method` names; the
others are 405.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field

from proxyapi.sandbox.api import reference_files, shapes
from proxyapi.sandbox.api.scene_shapes import StoryboardShown
from proxyapi.sandbox.api.text_to_scene import find_storyboard
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.storyboards import editing, record
from proxyapi.sandbox.world import World

METHODS = ("PUT", "POST", "PATCH")


def accepts_method(world: World, method: str) -> bool:
    return world.settings.scene_edit_method in ("any", method)


router = APIRouter(
    prefix="/text-to-scene",
    tags=["Text-to-scene"],
    route_class=make_route_class(
        find=find_storyboard,
        part=editing.find_scene,
        feature="text-to-scene",
        serves=accepts_method,
    ),
)


class SceneOrder(Body):
    scenes: Annotated[list[int], Field(max_length=1000)] = Field(description="All ids, in order.")


class SceneFrames(Body):
    """Addresses of pictures, or in a form their files. Null, in a form an empty text, takes one
    away; what is left out stays."""

    first_frame: str | None = Field(default=None, max_length=2048, pattern=r"^https?://[^\s/]+")
    last_frame: str | None = Field(default=None, max_length=2048, pattern=r"^https?://[^\s/]+")


class SceneChain(Body):
    chained: bool = True


async def sort_scenes(call: Caller, wanted: SceneOrder) -> Response:
    editing.sort_scenes(call, call.owned, wanted.scenes)
    return success_body(record.show_storyboard(call, call.owned), "Scenes sorted")


async def read_frames(call: Caller) -> SceneFrames:
    body = await reference_files.read_body(call)
    if body.is_form:
        body = body._replace(fields={name: value or None for name, value in body.fields.items()})
    return reference_files.validate(SceneFrames, body)


async def assign_frames(
    call: Caller, wanted: Annotated[SceneFrames, Depends(read_frames)]
) -> Response:
    chosen = {name: getattr(wanted, name) for name in wanted.model_fields_set}
    editing.assign_frames(call, call.owned, call.part, chosen)
    return success_body(record.show_storyboard(call, call.owned), "Frames assigned")


async def chain_scene(call: Caller, wanted: SceneChain | None = None) -> Response:
    editing.chain_scene(call, call.owned, call.part, wanted.chained if wanted else True)
    return success_body(record.show_storyboard(call, call.owned), "Scene chained")


def _route(path: str, handler: Callable[..., Any], body: dict[str, Any] | None = None) -> None:
    for method in METHODS:
        router.add_api_route(
            path,
            handler,
            methods=[method],
            name=f"{handler.__name__}_by_{method.lower()}",
            response_model=StoryboardShown,
            responses={405: {"model": shapes.RefusalShape}},
            openapi_extra=body,
        )


_route("/{storyboard}/scenes/sort", sort_scenes)
_route(
    "/{storyboard}/scenes/{scene}/frames",
    assign_frames,
    reference_files.document_body(SceneFrames, reference_files.FRAME_FIELDS),
)
_route("/{storyboard}/scenes/{scene}/chain", chain_scene)
