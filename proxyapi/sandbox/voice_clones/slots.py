"""Slots: how many clones an account may have, and what another one costs."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import billing
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.billing import FeatureUse
from proxyapi.sandbox.errors import PlanLimitReached
from proxyapi.sandbox.records import Charge

FEATURE = "voice_clone_slot"


def show_slots(call: ApiCall) -> dict[str, Any]:
    settings, left = call.world.settings, available_slots(call)
    return {
        "available": left if settings.slots_available == "count" else left > 0,
        "can_buy": settings.clone_slots_can_be_bought,
        "cost": billing.get_price(call.world, FEATURE),
    }


def available_slots(call: ApiCall) -> int:
    """Slots that no clone is in; a failed one has left its slot."""
    held = call.world.settings.clone_slots + call.account.bought_slots
    used = sum(
        it.account_id == call.account.id and it.status != "failed" for it in call.world.clones
    )
    return max(0, held - used)


def take_slot(call: ApiCall, *, buy: bool) -> Charge | None:
    """See that there is a slot, buying one if all are used; raises 403 and 402."""
    if available_slots(call):
        return None
    if not buy:
        raise PlanLimitReached("All voice clone slots are used. Buy one with purchase_addon.")
    if not call.world.settings.clone_slots_can_be_bought:
        raise PlanLimitReached("All voice clone slots are used, and none can be bought.")
    price = billing.get_price(call.world, FEATURE)
    resource = f"account:{call.account.id}"
    use = FeatureUse(FEATURE, price, resource, "Voice clone slot", "voice-clone")
    billing.require_credits(call, use)
    charge = billing.charge_credits(call, use)
    call.account.bought_slots += 1
    call.world.accounts.put(call.account)
    return charge
