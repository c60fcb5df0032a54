"""Auto top-up and its rules (spec: Limits, PUT /account/auto-topup).

Looked at after API spend only: below 10 % of the monthly credits the saved payment method is
charged, at most 3 times with success per UTC day, not within 24 hours of a failed charge;
3 failures in a row disable the preference. Toggling resets nothing.
"""

from __future__ import annotations

from proxyapi.sandbox import billing
from proxyapi.sandbox.clock import utc_day
from proxyapi.sandbox.records import Account, TopUp
from proxyapi.sandbox.world import World

THRESHOLD_PERCENT = 10
MAX_PER_DAY = 3
COOLDOWN_SECONDS = 24 * 3600
MAX_FAILURES = 3
CREDITS_PER_UNIT = 100


def get_preference(world: World, account_id: int) -> TopUp:
    return world.top_ups.get(account_id) or TopUp(id=account_id)


def top_up_if_due(world: World, account_id: int) -> None:
    """Top the account up if its preference and the rules say so."""
    account = world.accounts.get(account_id)
    chosen = get_preference(world, account_id)
    if account is None or not chosen.enabled:
        return
    if account.balance * 100 >= account.monthly_credits * THRESHOLD_PERCENT:
        return
    today = utc_day(world.now)
    if chosen.day != today:
        chosen.day, chosen.successes_of_day = today, 0
    resting = chosen.failed_at is not None and world.now < chosen.failed_at + COOLDOWN_SECONDS
    if chosen.successes_of_day >= MAX_PER_DAY or resting:
        return
    paid, credits = world.settings.top_up_charge == "succeeds", _credits(world, chosen)
    if account.payment_method and paid and credits:
        _succeed(world, account, chosen, credits)
    else:
        _fail(world, chosen)


def _credits(world: World, chosen: TopUp) -> int:
    """What is bought; 0 for a pack that is not active any more."""
    if chosen.type == "extra-credits":
        return world.settings.credit_packs.get(chosen.plan_id or 0, 0)
    return (chosen.units or 0) * CREDITS_PER_UNIT


def _succeed(world: World, account: Account, chosen: TopUp, credits: int) -> None:
    chosen.successes_of_day += 1
    chosen.consecutive_failures = 0
    world.top_ups.put(chosen)
    kind = world.settings.top_up_type
    account.extra += credits
    billing.book_entry(world, account, credits, "Auto top-up", "top-up", kind, source="billing")


def _fail(world: World, chosen: TopUp) -> None:
    chosen.failed_at = world.now
    chosen.consecutive_failures += 1
    if chosen.consecutive_failures >= MAX_FAILURES:
        chosen.enabled = False
    world.top_ups.put(chosen)
    if world.settings.top_up_charge == "fails_once":
        world.store_settings(world.settings.model_copy(update={"top_up_charge": "succeeds"}))
