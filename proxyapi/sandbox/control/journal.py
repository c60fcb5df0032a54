"""The journal: every request to /v2, with the token's fingerprint and never the token."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.control.dependencies import JsonAnswer, WorldDep

router = APIRouter()


@router.get("/journal")
async def read_journal(world: WorldDep, since: Annotated[int, Query(ge=0)] = 0) -> list[JsonAnswer]:
    """The requests after number `since`, oldest first."""
    return [
        {
            "number": visit.id,
            "at": format_iso(visit.at),
            "token": visit.token,
            "method": visit.method,
            "path": visit.path,
            "status": visit.status,
            "charge": visit.charge,
            "fault": visit.fault,
        }
        for visit in world.visits
        if visit.id > since
    ]


@router.delete("/journal")
async def clear_journal(world: WorldDep) -> JsonAnswer:
    """Forget the lines; the numbers go on."""
    found = [visit.id for visit in world.visits]
    for number in found:
        world.visits.drop(number)
    return {"cleared": len(found)}
