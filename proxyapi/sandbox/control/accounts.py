"""Accounts, their tokens, spend made outside the API, and the money audit."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import audit, billing, scenarios, tokens
from proxyapi.sandbox.control.dependencies import AccountDep, JsonAnswer, WorldDep
from proxyapi.sandbox.records import Account, Subscription
from proxyapi.sandbox.world import World

router = APIRouter()


class AccountChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    email: str | None = None
    email_verified: bool | None = None
    subscription: Subscription | None = None
    plan: str | None = None
    monthly_credits: int | None = Field(default=None, ge=0)
    credits: int | None = Field(default=None, ge=0)
    payment_method: bool | None = None
    features: list[str] | None = None


class OutsideSpend(BaseModel):
    """A purchase made elsewhere; negative credits are a grant."""

    model_config = ConfigDict(extra="forbid")

    credits: int
    label: str = "Spend in the web application"
    content_type: str = "web"


class NewToken(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: Annotated[str, Field(max_length=80)] = ""
    token: Annotated[str, Field(pattern=r"^[!-~]{16,512}$")] = ""


class Renewal(BaseModel):
    """`extra`: credits that are bought on top, a purse of their own."""

    model_config = ConfigDict(extra="forbid")

    extra: int = Field(default=0, ge=0)


@router.get("/accounts")
async def list_accounts(world: WorldDep) -> list[JsonAnswer]:
    return [describe_account(world, account) for account in world.accounts]


@router.post("/accounts", status_code=201)
async def open_account(world: WorldDep, wanted: scenarios.NewAccount | None = None) -> JsonAnswer:
    account, token = scenarios.open_account(world, wanted or scenarios.NewAccount())
    return scenarios.describe_new_account(world, account, [token])


@router.patch("/accounts/{account_id}")
async def change_account(world: WorldDep, account: AccountDep, change: AccountChange) -> JsonAnswer:
    """Change an account in mid-flight. New credits move the opening balance, not the ledger."""
    values = change.model_dump(exclude_none=True)
    credits = values.pop("credits", None)
    if credits is not None:
        account.opening += credits - account.balance
        account.balance = credits
        account.extra = min(account.extra, credits)
    for name, value in values.items():
        setattr(account, name, value)
    if change.subscription is not None:
        account.ends_at = scenarios.ends_at(world, change.subscription)
        account.lapsing = False
    account.updated_at = world.now
    world.accounts.put(account)
    return describe_account(world, account)


@router.post("/accounts/{account_id}/tokens", status_code=201)
async def issue_token(
    world: WorldDep, account: AccountDep, wanted: NewToken | None = None
) -> JsonAnswer:
    wanted = wanted or NewToken()
    token, row = tokens.issue_token(world, account.id, wanted.label, wanted.token)
    return {"account_id": account.id, "token": token, "fingerprint": row.fingerprint}


@router.delete("/tokens/{fingerprint}")
async def revoke_token(world: WorldDep, fingerprint: str) -> JsonAnswer:
    found = [row for row in world.tokens if row.fingerprint == fingerprint]
    if not found:
        raise HTTPException(404, f"There is no token {fingerprint}.")
    for row in found:
        row.revoked = True
        world.tokens.put(row)
    return {"fingerprint": fingerprint, "revoked": True}


@router.post("/accounts/{account_id}/spend")
async def spend_outside(world: WorldDep, account: AccountDep, spend: OutsideSpend) -> JsonAnswer:
    if spend.credits > account.balance:
        raise HTTPException(422, f"The balance is {account.balance} credits.")
    kind = world.settings.debit_type if spend.credits >= 0 else world.settings.top_up_type
    billing.book_entry(
        world, account, -spend.credits, spend.label, spend.content_type, kind, source="web"
    )
    return describe_account(world, account)


@router.post("/accounts/{account_id}/renewals")
async def renew_plan(world: WorldDep, account: AccountDep, renewal: Renewal) -> JsonAnswer:
    """A month begins: what is left of the last one expires without a ledger row."""
    account.opening -= account.balance - account.extra
    account.balance = account.extra
    kind = world.settings.top_up_type
    if renewal.extra:
        account.extra += renewal.extra
        words = ("Credit pack", "Purchased Credit", kind)
        billing.book_entry(world, account, renewal.extra, *words, source="billing")
    words = ("Renewal", "Release of monthly credits", kind)
    billing.book_entry(world, account, account.monthly_credits, *words, source="billing")
    return describe_account(world, account)


@router.get("/accounts/{account_id}/money")
async def show_money(world: WorldDep, account: AccountDep) -> JsonAnswer:
    return audit.audit_account(world, account)


def describe_account(world: World, account: Account) -> JsonAnswer:
    """The account without its tokens, of which only fingerprints are known."""
    shown = account.model_dump(exclude={"id", "opening", "balance"})
    return {"account_id": account.id, **shown, "credits": account.balance} | {
        "tokens": [
            {"fingerprint": it.fingerprint, "label": it.label, "revoked": it.revoked}
            for it in world.tokens
            if it.account_id == account.id
        ]
    }
