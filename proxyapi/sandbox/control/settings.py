"""The open choices, job durations and prices: read, and changed in part."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException
from pydantic import ValidationError

from proxyapi.sandbox.control.dependencies import WorldDep, require_unicode
from proxyapi.sandbox.dialect import with_dialect_settings
from proxyapi.sandbox.settings import Settings

router = APIRouter()


@router.get("/settings")
async def show_settings(world: WorldDep) -> Settings:
    return world.settings


@router.post("/settings", operation_id="change_settings_by_post")
@router.put("/settings")
async def change_settings(world: WorldDep, change: dict[str, Any]) -> Settings:
    """Only what is sent changes; of `costs`, too, only the features that are sent."""
    require_unicode(change)
    change = with_dialect_settings(change)
    before = world.settings.model_dump()
    costs = change.get("costs")
    if isinstance(costs, dict):
        change = {**change, "costs": {**before["costs"], **costs}}
    try:
        settings = Settings(**{**before, **change})
    except ValidationError as error:
        detail = error.errors(include_url=False, include_context=False, include_input=False)
        raise HTTPException(422, detail) from error
    world.store_settings(settings)
    return settings
