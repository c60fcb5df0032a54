"""The control plane at /_sandbox/: what tests, drills and demonstrations do to the world.

It answers to loopback only, refuses what a browser sends across sites, and is neither limited
nor journaled.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends, HTTPException, Request

from proxyapi.sandbox.control import accounts, clock, faults, journal, outcomes, settings, world


async def from_here(request: Request) -> None:
    """A web page that somebody has open must not reach the control plane."""
    if "origin" in request.headers or request.headers.get("sec-fetch-site") == "cross-site":
        raise HTTPException(403, "The control plane answers no web page.")


def router() -> APIRouter:
    whole = APIRouter(prefix="/_sandbox", tags=["Control plane"], dependencies=[Depends(from_here)])
    for part in (world, accounts, clock, settings, faults, outcomes, journal):
        whole.include_router(part.router)
    return whole
