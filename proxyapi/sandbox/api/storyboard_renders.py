"""Clips, estimate and render of a storyboard (spec: Text-to-scene)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.scene_shapes import (
    StoryboardCharged,
    StoryboardPrice,
    StoryboardShape,
)
from proxyapi.sandbox.api.text_to_scene import find_storyboard
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.storyboards import record, rendering

router = APIRouter(
    prefix="/text-to-scene",
    tags=["Text-to-scene"],
    route_class=make_route_class(find=find_storyboard, feature="text-to-scene"),
)


class ChosenScenes(Body):
    scenes: Annotated[list[int], Field(max_length=1000)] | None = Field(
        default=None, description="Left out: all scenes that have no clip."
    )


@router.post("/{storyboard}/clips", response_model=StoryboardCharged, status_code=202)
async def generate_clips(call: Caller, chosen: ChosenScenes | None = None) -> Response:
    charge = rendering.make_clips(call, call.owned, chosen.scenes if chosen else None)
    meta = billing.credits_meta(call, charge) if charge is not None else None
    return success_body(
        record.show_storyboard(call, call.owned), "Clips started", status=202, meta=meta
    )


@router.get("/{storyboard}/estimate", response_model=shapes.Envelope[StoryboardPrice])
async def estimate_storyboard(call: Caller) -> Response:
    board, world = call.owned, call.world
    credits = rendering.render_credits(world, board)
    cost = billing.credits_due(world, call.account, rendering.FEATURE, credits)
    return success_body(
        {
            "cost": cost,
            "available": billing.remaining_credits(world, call.account),
            "sufficient": call.account.balance >= cost,
            "duration": sum(scene.duration for scene in board.scenes),
            "scenes": len(board.scenes),
        }
    )


@router.post(
    "/{storyboard}/render", response_model=shapes.Charged[StoryboardShape], status_code=202
)
async def render_storyboard(call: Caller) -> Response:
    charge = rendering.start_render(call, call.owned)
    shown = record.show_storyboard(call, call.owned)
    return success_body(
        shown, "Render started", status=202, meta=billing.credits_meta(call, charge)
    )
