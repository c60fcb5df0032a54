"""The clock: read it, turn it, put it forward."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox.clock import Mode, iso
from proxyapi.sandbox.control.here import Answer, TheWorld
from proxyapi.sandbox.world import World

router = APIRouter()


class Turn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: Mode
    now: datetime | None = None
    scale: float = Field(default=1.0, gt=0, le=100_000)


class Step(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seconds: float = Field(ge=0, le=10 * 366 * 24 * 3600)


@router.get("/clock")
async def show_clock(world: TheWorld) -> Answer:
    return _describe(world)


@router.put("/clock")
async def turn_clock(world: TheWorld, turn: Turn) -> Answer:
    now = turn.now
    if now is not None and now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    try:
        world.clock.turn(turn.mode, now=now.timestamp() if now else None, scale=turn.scale)
    except ValueError as error:
        raise HTTPException(422, "The clock goes from 1970 to the year 8999.") from error
    world.keep_clock()
    return _describe(world)


@router.post("/clock/advance")
async def advance_clock(world: TheWorld, step: Step) -> Answer:
    try:
        world.clock.advance(step.seconds)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    world.keep_clock()
    return _describe(world)


def _describe(world: World) -> Answer:
    state = world.clock.state
    return {"mode": state.mode, "scale": state.scale, "now": iso(world.now)}
