"""Reset and snapshot: the whole world, new, out and in."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict

from proxyapi.sandbox import scenarios
from proxyapi.sandbox.control.dependencies import (
    JobRunnerDep,
    JsonAnswer,
    WorldDep,
    require_unicode,
)

router = APIRouter()


class ResetBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    seed: int | None = None
    scenario: str | None = None


@router.post("/reset")
async def reset_world(studio: JobRunnerDep, wanted: ResetBody | None = None) -> JsonAnswer:
    """An empty world, or a named one; answers the accounts and tokens made."""
    world, wanted = studio.world, wanted or ResetBody()
    if wanted.scenario is not None and wanted.scenario not in scenarios.SCENARIOS:
        known = ", ".join(sorted(scenarios.SCENARIOS))
        raise HTTPException(422, f"There is no scenario {wanted.scenario!r}. Known: {known}.")
    studio.empty(wanted.seed)
    made = scenarios.SCENARIOS[wanted.scenario](world) if wanted.scenario else []
    return {"seed": world.seed, "scenario": wanted.scenario, "accounts": made}


@router.get("/snapshot")
async def take_snapshot(world: WorldDep) -> dict[str, list[dict[str, Any]]]:
    return world.snapshot()


@router.put("/snapshot")
async def put_snapshot(
    world: WorldDep, snapshot: dict[str, list[dict[str, Any]]]
) -> dict[str, int]:
    """Replace the world; answers how many rows of each kind it has now."""
    require_unicode(snapshot)
    try:
        world.restore(snapshot)
    except (ValueError, TypeError, OverflowError) as error:
        raise HTTPException(422, f"This is no snapshot: {error}") from error
    return {kind: len(table) for kind, table in world.tables.items()}
