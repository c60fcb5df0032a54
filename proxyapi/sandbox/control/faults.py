"""Faults: set, listed and lifted."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox.control.dependencies import JsonAnswer, WorldDep, require_unicode
from proxyapi.sandbox.faults import Action
from proxyapi.sandbox.records import Fault

router = APIRouter()


class FaultMatch(BaseModel):
    """Which requests: `path` may hold `*`; `nth` counts the requests that match the rest."""

    model_config = ConfigDict(extra="forbid")

    method: str | None = None
    path: str | None = None
    nth: int | None = Field(default=None, ge=1)
    account_id: int | None = None


class NewFault(BaseModel):
    """`times` left out: until it is deleted. The rest are the options of the action."""

    model_config = ConfigDict(extra="forbid")

    match: FaultMatch = Field(default_factory=FaultMatch)
    when: Literal["before", "after"] = "before"
    action: Action
    times: int | None = Field(default=None, ge=1)
    probability: float = Field(default=1.0, ge=0, le=1)
    seed: int = 0
    code: int | None = Field(default=None, ge=200, le=599, description="status, html")
    headers: dict[str, str] | None = Field(default=None, description="status")
    body: Any = Field(default=None, description="for status: text, or a value sent as JSON")
    ms: float | None = Field(default=None, ge=0, le=600_000, description="latency")
    seconds: float | None = Field(default=None, ge=0, le=7200, description="stall, late")
    retry_after: int | None = Field(default=None, ge=1, description="rate_limited")


OPTIONS = ("code", "headers", "body", "ms", "seconds", "retry_after")


@router.post("/faults", status_code=201)
async def set_fault(world: WorldDep, wanted: NewFault) -> Fault:
    require_unicode(wanted.model_dump())
    options = {name: getattr(wanted, name) for name in OPTIONS}
    return world.faults.put(
        Fault(
            id=world.number("fault"),
            action=wanted.action,
            when=wanted.when,
            match=wanted.match.model_dump(exclude_none=True),
            options={name: value for name, value in options.items() if value is not None},
            times=wanted.times,
            probability=wanted.probability,
            seed=wanted.seed,
        )
    )


@router.get("/faults")
async def list_faults(world: WorldDep) -> list[Fault]:
    return list(world.faults)


@router.delete("/faults")
async def lift_faults(world: WorldDep) -> JsonAnswer:
    found = [fault.id for fault in world.faults]
    for number in found:
        world.faults.drop(number)
    return {"lifted": found}


@router.delete("/faults/{number}")
async def lift_fault(world: WorldDep, number: int) -> JsonAnswer:
    if world.faults.get(number) is None:
        raise HTTPException(404, f"There is no fault {number}.")
    world.faults.drop(number)
    return {"lifted": [number]}
