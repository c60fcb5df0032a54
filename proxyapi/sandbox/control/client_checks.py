"""Checks of a client: the start of a fault scenario on an account, and the verdict."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import client_checks, scenarios
from proxyapi.sandbox.control.dependencies import AccountDep, JsonAnswer, WorldDep

router = APIRouter()


class NewCheck(BaseModel):
    """Without `account_id` a new account is made, and its token answered."""

    model_config = ConfigDict(extra="forbid")

    scenario: str
    account_id: int | None = None
    slow_seconds: float = Field(default=35.0, ge=0, le=600)


@router.post("/client-checks", status_code=201)
async def start_check(world: WorldDep, wanted: NewCheck) -> JsonAnswer:
    scenario = client_checks.SCENARIOS.get(wanted.scenario)
    if scenario is None:
        known = ", ".join(client_checks.SCENARIOS)
        raise HTTPException(422, f"There is no scenario {wanted.scenario!r:.80}. Known: {known}.")
    account, made = world.accounts.get(wanted.account_id), {}
    if wanted.account_id is None:
        account, made["token"] = scenarios.open_account(world, scenarios.NewAccount())
    if account is None:
        raise HTTPException(404, f"There is no account {wanted.account_id}.")
    client_checks.start(world, scenario, account, wanted.slow_seconds)
    told = {"happens": scenario.happens, "restarts": scenario.name in client_checks.RESTARTS}
    return {"account_id": account.id, **made, **told, "topic": client_checks.TOPIC}


@router.get("/client-checks/{account_id}")
async def judge_check(
    world: WorldDep, account: AccountDep, has_film: bool | None = None
) -> JsonAnswer:
    """`has_film`: what the client says; left out, it says nothing."""
    try:
        return client_checks.judge(world, account, has_film)
    except KeyError:
        raise HTTPException(404, f"No scenario was started on account {account.id}.") from None
