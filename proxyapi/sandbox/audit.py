"""The money audit: does the ledger add up, and was anything charged twice?

A charge is a double charge when it repeats an earlier charging request of the account (same
method, path and body) and either the earlier answer did not arrive whole, so that the client
sent it again blindly, or the repetition followed within `double_charge_seconds`, as a double
click does. Each earlier charge explains at most one repetition.

A client that lost its own records sends the same wish on another path: a second draft with the same
settings, and its script. Charges of one intent (same operation, body and content of the resource)
on different resources within `same_intent_seconds` are listed apart: people do order alike twice.
So are equal requests within that time, in `repeated_requests`: something between client and service
may have answered the first in our place, so that it looks answered here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.records import Account, Charge
from proxyapi.sandbox.world import World


def audit_account(world: World, account: Account) -> dict[str, Any]:
    """The account's books, for a drill to assert on."""
    entries = world.ledgers[account.id]
    charges = [it for it in world.charges if it.account_id == account.id]
    by_resource: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for charge in charges:
        by_resource[charge.resource].append(describe_charge(charge))
    total = sum(entry.credits for entry in entries)
    return {
        "account_id": account.id,
        "opening": account.opening,
        "ledger_sum": total,
        "balance": account.balance,
        "balanced": account.opening + total == account.balance,
        "charges": dict(by_resource),
        "refunds": [describe_charge(it) for it in charges if it.refunded],
        "top_ups": [
            {"credits": it.credits, "at": format_iso(it.created_at)}
            for it in entries
            if it.content_type == "top-up"
        ],
        "double_charges": [describe_charge(it) for it in find_double_charges(world, charges)],
        "repeated_requests": [describe_charge(it) for it in find_repeats(world, charges)],
        "same_intent": [describe_charge(it) for it in find_same_intent_charges(world, charges)],
    }


def find_double_charges(world: World, charges: list[Charge]) -> list[Charge]:
    window = world.settings.double_charge_seconds
    before: dict[tuple[str, str], Charge] = {}
    found = []
    for charge in charges:
        earlier = before.get((charge.feature, charge.request))
        soon = earlier is not None and charge.created_at - earlier.created_at <= window
        if earlier is not None and (soon or not earlier.answered):
            found.append(charge)
        before[charge.feature, charge.request] = charge
    return found


def find_repeats(world: World, charges: list[Charge]) -> list[Charge]:
    """The later ones of equal requests, whatever was answered."""
    before: dict[tuple[str, str], float] = {}
    found = []
    for charge in charges:
        key = charge.feature, charge.request
        if charge.created_at - before.get(key, -math.inf) <= world.settings.same_intent_seconds:
            found.append(charge)
        before[key] = charge.created_at
    return found


def find_same_intent_charges(world: World, charges: list[Charge]) -> list[Charge]:
    """The later ones of charges that asked for the same on different resources."""
    seconds = world.settings.same_intent_seconds
    before: dict[str, Charge] = {}
    found = []
    for charge in charges:
        earlier = before.get(charge.intent)
        is_other = earlier is not None and earlier.resource != charge.resource
        if earlier and is_other and charge.created_at - earlier.created_at <= seconds:
            found.append(charge)
        before[charge.intent] = charge
    return found


def describe_charge(charge: Charge) -> dict[str, Any]:
    return {
        "number": charge.id,
        "feature": charge.feature,
        "resource": charge.resource,
        "credits": charge.credits,
        "at": format_iso(charge.created_at),
        "answered": charge.answered,
        "refunded": charge.refunded,
        "returned": charge.returned,
    }
