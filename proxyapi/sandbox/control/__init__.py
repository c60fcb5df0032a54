"""The control plane at /_sandbox/: what tests, drills and demonstrations do to the world.

It answers to loopback only, unless SANDBOX_CONTROL_TOKEN is set and the request carries it. It
refuses what a browser sends across sites, and what comes under a name of somebody else's, to
which a web page can bind this machine's address. It is neither limited nor journaled.
"""

from __future__ import annotations

import os
import secrets
from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, HTTPException, Request

from proxyapi.sandbox.control import (
    accounts,
    client_checks,
    clock,
    faults,
    journal,
    outcomes,
    replay,
    settings,
    shapes,
    world,
)


async def require_local_caller(request: Request) -> None:
    """A web page that somebody has open must not reach the control plane."""
    if "origin" in request.headers or request.headers.get("sec-fetch-site") == "cross-site":
        raise HTTPException(403, "The control plane refuses requests from web pages.")
    if not (has_token(request) or (is_loopback_caller(request) and has_local_host_name(request))):
        raise HTTPException(
            403, "The control plane needs its control token, or a request from this machine."
        )


def is_loopback_caller(request: Request) -> bool:
    """Without a socket (in tests, in-process) the caller is this process."""
    host = request.client.host if request.client else "127.0.0.1"
    return _is_loopback(host) or host == "testclient"


def has_local_host_name(request: Request) -> bool:
    """A name without a dot is of this machine or its network: nobody else's leads here."""
    name = request.url.hostname or ""
    public = urlsplit(request.app.state.public_url or "").hostname
    return not {".", ":"} & set(name) or name == public or _is_loopback(name)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def has_token(request: Request) -> bool:
    wanted = os.environ.get("SANDBOX_CONTROL_TOKEN", "")
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    return bool(wanted) and secrets.compare_digest(given.encode(), wanted.encode())


def router() -> APIRouter:
    whole = APIRouter(
        prefix="/_sandbox",
        tags=["Control plane"],
        dependencies=[Depends(require_local_caller)],
        responses=shapes.REFUSALS,
    )
    for part in (
        *(world, accounts, clock, settings, faults, outcomes, journal, replay),
        client_checks,
    ):
        whole.include_router(part.router)
    return whole
