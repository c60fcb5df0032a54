"""The routes of /v2, one module per resource, each with the paths of the spec's tables."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.security import HTTPBearer

from proxyapi.sandbox.api import (
    account,
    assets,
    characters,
    credits,
    faceless,
    ideas,
    options,
    renders,
    scene_edits,
    scrapes,
    scripts,
    shapes,
    shortcuts,
    storyboard_renders,
    text_to_scene,
    text_to_video,
    topup,
    voice_clones,
)

ROUTERS = (
    account.router,
    credits.router,
    topup.router,
    options.router,
    faceless.router,
    scripts.router,
    renders.router,
    scrapes.router,
    *shortcuts.ROUTERS,
    assets.router,
    text_to_video.router,
    voice_clones.router,
    ideas.router,
    characters.router,
    text_to_scene.router,
    scene_edits.router,
    storyboard_renders.router,
)


REFUSALS: dict[int | str, dict[str, Any]] = {
    **{status: {"model": shapes.RefusalShape} for status in (400, 401, 402, 403, 404, 429)},
    422: {"model": shapes.InvalidShape},
}


def router() -> APIRouter:
    # The gate checks the token; this only tells /docs that there is one.
    described = Depends(HTTPBearer(auto_error=False))
    whole = APIRouter(prefix="/v2", dependencies=[described], responses=REFUSALS)
    for part in ROUTERS:
        whole.include_router(part)
    return whole
