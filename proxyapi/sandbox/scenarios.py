"""Named worlds to start from. People of the demo: Mira, Jonas, Thea, Priya, Luca, Vera."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox import tokens
from proxyapi.sandbox.records import Account, Subscription, TopUp
from proxyapi.sandbox.world import World

MONTH_SECONDS = 30 * 24 * 3600
FEATURES = ["text-to-video", "text-to-scene", "voice-clones", "characters", "ideas"]


class NewAccount(BaseModel):
    """What an account is made of. Credits left out are the monthly credits."""

    model_config = ConfigDict(extra="forbid")

    name: str = "Mira Lindgren"
    email: str = "mira@example.com"
    email_verified: bool = True
    subscription: Subscription = "paid"
    plan: str = "Studio"
    monthly_credits: int = Field(default=1000, ge=0)
    credits: int | None = Field(default=None, ge=0)
    payment_method: bool = True
    features: list[str] = Field(default_factory=lambda: list(FEATURES))


def open_account(world: World, wanted: NewAccount) -> tuple[Account, str]:
    """Make an account with its first token, which is returned in the clear."""
    credits = wanted.monthly_credits if wanted.credits is None else wanted.credits
    account = world.accounts.put(
        Account(
            id=world.plausible_id("account", 7_300),
            opening=credits,
            balance=credits,
            ends_at=ends_at(world, wanted.subscription),
            created_at=world.now,
            updated_at=world.now,
            **wanted.model_dump(exclude={"credits"}),
        )
    )
    token, _ = tokens.issue_token(world, account.id, "first")
    return account, token


def ends_at(world: World, subscription: Subscription) -> float | None:
    """When a subscription that begins now, or that is over, ends."""
    if subscription == "none":
        return None
    running = subscription in ("paid", "trial")
    return world.now + (MONTH_SECONDS if running else -MONTH_SECONDS)


def describe_new_account(world: World, account: Account, issued: list[str]) -> dict[str, Any]:
    return {
        "account_id": account.id,
        "name": account.name,
        "email": account.email,
        "subscription": account.subscription,
        "credits": account.balance,
        "token": issued[0],
        "tokens": issued,
        "fingerprints": [tokens.token_digest(token)[:12] for token in issued],
    }


def _one(world: World, **wanted: Any) -> list[dict[str, Any]]:
    account, token = open_account(world, NewAccount(**wanted))
    return [describe_new_account(world, account, [token])]


def _paid(world: World) -> list[dict[str, Any]]:
    return _one(world)


def _trial(world: World) -> list[dict[str, Any]]:
    return _one(world, subscription="trial", plan="Studio trial", monthly_credits=100)


def _never_subscribed(world: World) -> list[dict[str, Any]]:
    return _one(world, subscription="none", monthly_credits=0, payment_method=False)


def _unverified_email(world: World) -> list[dict[str, Any]]:
    return _one(world, email_verified=False)


def _low_credits(world: World) -> list[dict[str, Any]]:
    return _one(world, credits=6)


def _top_up_two_failures(world: World) -> list[dict[str, Any]]:
    """One failed charge away from being disabled, a day after the last one."""
    account, token = open_account(world, NewAccount(credits=104))
    world.top_ups.put(
        TopUp(
            id=account.id,
            enabled=True,
            type="dynamic-credits",
            units=5,
            enabled_at=world.now - 3 * 24 * 3600,
            consecutive_failures=2,
            failed_at=world.now - 25 * 3600,
        )
    )
    world.store_settings(world.settings.model_copy(update={"top_up_charge": "fails"}))
    return [describe_new_account(world, account, [token])]


def _lapses_mid_render(world: World) -> list[dict[str, Any]]:
    """The subscription ends when the first render is half done."""
    account, token = open_account(world, NewAccount())
    account.lapsing = True
    world.accounts.put(account)
    return [describe_new_account(world, account, [token])]


def _team_of_three(world: World) -> list[dict[str, Any]]:
    """Mira's account has two tokens, as two members share it; Priya and Luca have their own."""
    made = []
    for name, credits, shared in (("Mira", 2000, 2), ("Priya", 1000, 1), ("Luca", 500, 1)):
        wanted = NewAccount(name=name, email=f"{name.lower()}@example.com", monthly_credits=credits)
        account, token = open_account(world, wanted)
        more = [tokens.issue_token(world, account.id, "shared")[0] for _ in range(shared - 1)]
        made.append(describe_new_account(world, account, [token, *more]))
    return made


SCENARIOS: dict[str, Callable[[World], list[dict[str, Any]]]] = {
    "paid": _paid,
    "trial": _trial,
    "never_subscribed": _never_subscribed,
    "unverified_email": _unverified_email,
    "low_credits": _low_credits,
    "top_up_two_failures": _top_up_two_failures,
    "lapses_mid_render": _lapses_mid_render,
    "team_of_three": _team_of_three,
}
