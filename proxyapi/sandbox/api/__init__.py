"""The routes of /v2, one module per resource, each with the paths of the spec's tables."""

from __future__ import annotations

from fastapi import APIRouter

from proxyapi.sandbox.api import account, credits, faceless, options, renders, scripts, topup

ROUTERS = (
    account.router,
    credits.router,
    topup.router,
    options.router,
    faceless.router,
    scripts.router,
    renders.router,
)


def router() -> APIRouter:
    whole = APIRouter(prefix="/v2")
    for part in ROUTERS:
        whole.include_router(part)
    return whole
