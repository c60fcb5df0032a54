"""GET /me (spec: Account). Works without a subscription."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from proxyapi.sandbox import money
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.clock import iso
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.gate import Caller, gated
from proxyapi.sandbox.records import Account
from proxyapi.sandbox.world import World

router = APIRouter(tags=["Account"], responses=shapes.UNVERIFIED)
router.route_class = gated(paid=False, account_area=True)


@router.get("/me", response_model=shapes.Envelope[shapes.AccountShape])
async def show_account(call: Caller) -> Response:
    return success(describe(call.world, call.account))


def describe(world: World, account: Account) -> dict[str, Any]:
    ends_at = account.ends_at
    return {
        "id": account.id,
        "name": account.name,
        "email": account.email,
        "email_verified": account.email_verified,
        "credits": {
            "remaining": money.remaining(world, account),
            "total": account.monthly_credits,
            "extra": account.extra,
        },
        "subscription": {
            "exists": account.subscription != "none",
            "active": account.subscription in ("paid", "trial"),
            "trial": account.subscription == "trial",
            "plan": account.plan if account.subscription != "none" else None,
            "ends_at": iso(ends_at) if ends_at is not None else None,
        },
        "created_at": iso(account.created_at),
        "updated_at": iso(account.updated_at),
    }
