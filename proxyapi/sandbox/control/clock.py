"""The clock: read it, turn it, put it forward."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox.clock import Mode, format_iso
from proxyapi.sandbox.control.dependencies import JsonAnswer, WorldDep
from proxyapi.sandbox.world import World

router = APIRouter()


class ClockChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: Mode
    now: datetime | None = None
    scale: float = Field(default=1.0, gt=0, le=100_000)


class ClockAdvance(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seconds: float = Field(ge=0, le=10 * 366 * 24 * 3600)


@router.get("/clock")
async def show_clock(world: WorldDep) -> JsonAnswer:
    return _describe(world)


@router.put("/clock")
async def turn_clock(world: WorldDep, turn: ClockChange) -> JsonAnswer:
    now = turn.now
    if now is not None and now.tzinfo is None:
        now = now.replace(tzinfo=UTC)
    try:
        world.clock.set_mode(turn.mode, now=now.timestamp() if now else None, scale=turn.scale)
    except ValueError as error:
        raise HTTPException(422, "The clock goes from 1970 to the year 8999.") from error
    world.store_clock()
    return _describe(world)


@router.post("/clock/advance")
async def advance_clock(world: WorldDep, step: ClockAdvance) -> JsonAnswer:
    try:
        world.clock.advance(step.seconds)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    world.store_clock()
    return _describe(world)


def _describe(world: World) -> JsonAnswer:
    state = world.clock.state
    return {"mode": state.mode, "scale": state.scale, "now": format_iso(world.now)}
