"""GET /me (spec: Account). Works without a subscription."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.records import Account
from proxyapi.sandbox.world import World

router = APIRouter(tags=["Account"], responses=shapes.UNVERIFIED)
router.route_class = make_route_class(paid=False, account_area=True)


@router.get("/me", response_model=shapes.Envelope[shapes.AccountShape])
async def show_account(call: Caller) -> Response:
    return success_body(describe_account(call.world, call.account))


def describe_account(world: World, account: Account) -> dict[str, Any]:
    ends_at = account.ends_at
    return {
        "id": account.id,
        "name": account.name,
        "email": account.email,
        "email_verified": account.email_verified,
        "credits": {
            "remaining": billing.remaining_credits(world, account),
            "total": account.monthly_credits,
            "extra": account.extra,
        },
        "subscription": {
            "exists": account.subscription != "none",
            "active": account.subscription in ("paid", "trial"),
            "trial": account.subscription == "trial",
            "plan": account.plan if account.subscription != "none" else None,
            "ends_at": format_iso(ends_at) if ends_at is not None else None,
        },
        "created_at": format_iso(account.created_at),
        "updated_at": format_iso(account.updated_at),
    }
