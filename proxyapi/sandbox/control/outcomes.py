"""Outcomes: how the next job of a kind, or of one resource, is to go."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import jobs
from proxyapi.sandbox.control.dependencies import JsonAnswer, WorldDep, require_unicode
from proxyapi.sandbox.records import Outcome, ScriptedKind

router = APIRouter()


class Failure(BaseModel):
    code: str = "RENDER-FAILED"
    message: str = "The render failed. Try again."


class NewOutcome(BaseModel):
    """`id` is the resource's: for a video its faceless id. Statuses may be any words."""

    model_config = ConfigDict(extra="forbid")

    kind: ScriptedKind = "faceless"
    id: int | None = None
    statuses: list[Annotated[str, Field(min_length=1, max_length=60)]] = Field(min_length=1)
    failure: Failure | None = None


@router.post("/outcomes", status_code=201)
async def script_outcome(world: WorldDep, wanted: NewOutcome) -> Outcome:
    """Applies to a job that is running on the resource, else to the next one."""
    require_unicode(wanted.model_dump())
    failure = wanted.failure.model_dump() if wanted.failure else None
    outcome = Outcome(
        id=world.number("outcome"),
        kind=wanted.kind,
        resource_id=wanted.id,
        statuses=wanted.statuses,
        failure=failure,
    )
    for job in reversed(world.jobs.rows.values()) if wanted.id is not None else ():
        if job.kind == wanted.kind and job.resource_id == wanted.id and not job.ended:
            jobs.script_job(world, job, wanted.statuses, failure)
            return outcome
    return world.outcomes.put(outcome)


@router.get("/outcomes")
async def list_outcomes(world: WorldDep) -> list[Outcome]:
    """The outcomes that still wait for their job."""
    return list(world.outcomes)


@router.delete("/outcomes")
async def drop_outcomes(world: WorldDep) -> JsonAnswer:
    found = [outcome.id for outcome in world.outcomes]
    for number in found:
        world.outcomes.drop(number)
    return {"dropped": found}
