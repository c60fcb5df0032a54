"""The faceless draft: create, read, change (spec: Faceless videos)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.gate import Caller, gated, number
from proxyapi.sandbox.records import Video
from proxyapi.sandbox.world import World

Shown = shapes.Envelope[shapes.FacelessShape]


def find(world: World, key: str) -> Video | None:
    """A faceless video by its id; a video_id finds nothing."""
    return world.videos.get(number(key))


router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=gated(find=find))


@router.post("", response_model=Shown, status_code=201)
async def create_faceless(call: Caller, draft: changes.Draft) -> Response:
    video = changes.create(call, draft)
    status = call.world.settings.create_status
    return success(record.show(call, video), "Video created", status=status)


@router.get("/{id}", response_model=Shown)
async def show_faceless(call: Caller) -> Response:
    return success(record.show(call, call.owned))


@router.patch("/{faceless}", response_model=Shown)
async def change_faceless(call: Caller, wanted: changes.Changes) -> Response:
    wanted.apply(call, call.owned)
    return success(record.show(call, call.owned), "Video updated")
