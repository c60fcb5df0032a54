"""What the control routes work on."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request

from proxyapi.sandbox.job_runner import JobRunner
from proxyapi.sandbox.records import Account
from proxyapi.sandbox.world import World


async def _studio(request: Request) -> JobRunner:
    studio: JobRunner = request.app.state.studio
    return studio


async def _world(request: Request) -> World:
    world: World = request.app.state.world
    return world


JobRunnerDep = Annotated[JobRunner, Depends(_studio)]
WorldDep = Annotated[World, Depends(_world)]
JsonAnswer = dict[str, Any]


def require_unicode(value: Any) -> None:
    """Raise 422 for half of a surrogate pair: JSON lets it in, but it cannot be saved."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise HTTPException(422, "Not valid Unicode: half of a surrogate pair.") from error


async def _account(world: WorldDep, account_id: int) -> Account:
    account = world.accounts.get(account_id)
    if account is None:
        raise HTTPException(404, f"There is no account {account_id}.")
    return account


AccountDep = Annotated[Account, Depends(_account)]
