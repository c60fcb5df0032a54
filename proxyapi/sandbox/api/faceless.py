"""The faceless draft: create, read, change (spec: Faceless videos)."""

from __future__ import annotations

from fastapi import APIRouter, Response

from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.authorization import Caller, make_route_class, parse_row_id
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless import changes, record
from proxyapi.sandbox.records import Video
from proxyapi.sandbox.world import World

FacelessEnvelope = shapes.Envelope[shapes.FacelessShape]


def find_video(world: World, key: str) -> Video | None:
    """A faceless video by its id; a video_id finds nothing."""
    return world.videos.get(parse_row_id(key))


router = APIRouter(
    prefix="/faceless", tags=["Faceless videos"], route_class=make_route_class(find=find_video)
)


@router.post("", response_model=FacelessEnvelope, status_code=201)
async def create_faceless(call: Caller, draft: changes.FacelessDraft) -> Response:
    video = changes.create_draft(call, draft)
    status = call.world.settings.create_status
    return success_body(record.show_video(call, video), "Video created", status=status)


@router.get("/{id}", response_model=FacelessEnvelope)
async def show_faceless(call: Caller) -> Response:
    return success_body(record.show_video(call, call.owned))


@router.patch("/{faceless}", response_model=FacelessEnvelope)
async def change_faceless(call: Caller, wanted: changes.FacelessChanges) -> Response:
    wanted.apply(call, call.owned)
    return success_body(record.show_video(call, call.owned), "Video updated")
