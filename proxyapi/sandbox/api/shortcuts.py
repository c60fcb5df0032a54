"""The typed shortcuts: /b-roll, /ai-visuals and /url-to-video (spec: Typed shortcuts).

Each mirrors the generic flow with its type fixed, on exactly the paths that are listed; a
video of another type does not exist there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Response
from pydantic import StringConstraints

from proxyapi.sandbox.api import renders, scrapes, scripts, shapes
from proxyapi.sandbox.api.faceless import FacelessEnvelope, show_faceless
from proxyapi.sandbox.authorization import Caller, make_route_class, parse_row_id
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.records import Video, VideoType
from proxyapi.sandbox.world import World

Charged = shapes.Charged[shapes.FacelessShape]


class ShortcutDraft(Body):
    title: Annotated[str, StringConstraints(min_length=1, max_length=255, strip_whitespace=True)]
    topic: changes.Topic | None = None
    type: VideoType | None = None


def finder(kind: VideoType) -> Callable[[World, str], Video | None]:
    """Finds videos of one type only."""

    def find(world: World, key: str) -> Video | None:
        video = world.videos.get(parse_row_id(key))
        return video if video is not None and video.type == kind else None

    return find


def _module(prefix: str, kind: VideoType, *, estimate: bool) -> APIRouter:
    router = APIRouter(
        prefix=prefix, tags=["Typed shortcuts"], route_class=make_route_class(find=finder(kind))
    )

    async def create(call: Caller, wanted: ShortcutDraft) -> Response:
        _check_type(wanted.type, kind, required=call.world.settings.shortcut_requires_type)
        draft = changes.FacelessDraft(type=kind, title=wanted.title, topic=wanted.topic)
        video = changes.create_draft(call, draft)
        status = call.world.settings.create_status
        return success_body(record.show_video(call, video), "Video created", status=status)

    async def change(call: Caller, wanted: changes.FacelessChanges) -> Response:
        _check_type(wanted.type, kind)
        wanted.apply(call, call.owned)
        return success_body(record.show_video(call, call.owned), "Video updated")

    name = kind.replace("-", "_")
    _route(router, "POST", "", create, FacelessEnvelope, name=f"create_{name}", status_code=201)
    _route(router, "GET", "/{id}", show_faceless, FacelessEnvelope)
    _route(router, "PATCH", "/{id}", change, FacelessEnvelope, name=f"change_{name}")
    _route(router, "PUT", "/{faceless}/scripts", scripts.write_script, Charged)
    _route(router, "POST", "/{faceless}/render", renders.start_render, Charged, status_code=202)
    if estimate:
        shape = shapes.Envelope[shapes.EstimateShape]
        _route(router, "GET", "/{faceless}/estimate", renders.estimate_render, shape)
    return router


def _route(
    router: APIRouter,
    method: str,
    path: str,
    handler: Callable[..., Any],
    shape: Any,
    **wanted: Any,
) -> None:
    router.add_api_route(path, handler, methods=[method], response_model=shape, **wanted)


def _check_type(sent: VideoType | None, kind: VideoType, *, required: bool = False) -> None:
    if sent is None and required:
        raise ValidationError({"type": ["The type field is required."]})
    if sent is not None and sent != kind:
        raise ValidationError({"type": [f"The type is {kind} here."]})


b_roll = _module("/b-roll", "b-roll", estimate=True)
ai_visuals = _module("/ai-visuals", "ai-visuals", estimate=True)
url_to_video = _module("/url-to-video", "url-based", estimate=False)
_route(url_to_video, "POST", "/{faceless}/scrape-images", scrapes.scrape_images, FacelessEnvelope)
_route(url_to_video, "POST", "/{faceless}/scrape-script", scrapes.scrape_script, Charged)

ROUTERS = (b_roll, ai_visuals, url_to_video)
