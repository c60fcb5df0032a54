"""Slots: how many clones an account may have, and what another one costs."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import money
from proxyapi.sandbox.errors import PlanLimitReached
from proxyapi.sandbox.gate import Call
from proxyapi.sandbox.money import Use
from proxyapi.sandbox.records import Charge

FEATURE = "voice_clone_slot"


def show(call: Call) -> dict[str, Any]:
    settings, left = call.world.settings, available(call)
    return {
        "available": left if settings.slots_available == "count" else left > 0,
        "can_buy": settings.clone_slots_can_be_bought,
        "cost": money.price(call.world, FEATURE),
    }


def available(call: Call) -> int:
    """Slots that no clone is in; a failed one has left its slot."""
    held = call.world.settings.clone_slots + call.account.bought_slots
    used = sum(
        it.account_id == call.account.id and it.status != "failed" for it in call.world.clones
    )
    return max(0, held - used)


def take(call: Call, *, buy: bool) -> Charge | None:
    """See that there is a slot, buying one if all are used; raises 403 and 402."""
    if available(call):
        return None
    if not buy:
        raise PlanLimitReached("All voice clone slots are used. Buy one with purchase_addon.")
    if not call.world.settings.clone_slots_can_be_bought:
        raise PlanLimitReached("All voice clone slots are used, and none can be bought.")
    price = money.price(call.world, FEATURE)
    resource = f"account:{call.account.id}"
    use = Use(FEATURE, price, resource, "Voice clone slot", "voice-clone")
    money.require(call, use)
    charge = money.charge(call, use)
    call.account.bought_slots += 1
    call.world.accounts.put(call.account)
    return charge
