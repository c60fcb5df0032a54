"""Credits: what a use costs, the ledger, the balance, refunds.

Law: balance == opening + sum of the ledger, after every call. Free uses come before credits
and leave no ledger row. Credits bought on top (`extra`) are spent last.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.errors import InsufficientCredits
from proxyapi.sandbox.records import Account, Charge, Entry
from proxyapi.sandbox.world import World


class FeatureUse(NamedTuple):
    """One use of a charged feature: its price, and the words of its ledger row."""

    feature: str
    credits: int
    resource: str  # for the audit, such as `faceless:41234`
    label: str
    content_type: str


def get_price(world: World, feature: str) -> int:
    return world.settings.costs[feature].credits


def credits_due(world: World, account: Account, feature: str, credits: int) -> int:
    """Credits that a use of this price would charge now: 0 while free uses are left."""
    known = world.settings.costs.get(feature)  # what costs by its length has no fixed cost
    free = (known.free if known else None) or 0
    return 0 if account.free_used.get(feature, 0) < free else credits


def require_credits(call: ApiCall, use: FeatureUse) -> None:
    """Raise 402 if the balance does not cover the use."""
    required = credits_due(call.world, call.account, use.feature, use.credits)
    if required > call.account.balance:
        raise InsufficientCredits(required=required, available=call.account.balance)


def charge_credits(call: ApiCall, use: FeatureUse) -> Charge:
    """Take the credits of a use that `require_credits` has let through."""
    world, account = call.world, call.account
    credits = credits_due(world, account, use.feature, use.credits)
    if credits < use.credits:
        account.free_used[use.feature] = account.free_used.get(use.feature, 0) + 1
        world.accounts.put(account)
    if credits:
        book_entry(world, account, -credits, use.label, use.content_type, world.settings.debit_type)
    made = world.charges.put(
        Charge(
            id=world.number("charge"),
            account_id=account.id,
            feature=use.feature,
            resource=use.resource,
            credits=credits,
            created_at=world.now,
            request=call.digest,
            intent=call.intent,
            visit=call.visit,
        )
    )
    call.charges.append(made)
    return made


def refund_charge(
    world: World, charge: Charge, label: str, content_type: str, part: int | None = None
) -> None:
    """Give the credits of a charge back, once; `part` of them, where it was for several things."""
    account = world.accounts.get(charge.account_id)
    if account is None or (part is None and charge.refunded):
        return
    credits = min(charge.credits if part is None else part, charge.credits - charge.returned)
    if credits <= 0:
        return
    charge.refunded = True
    charge.returned += credits
    world.charges.put(charge)
    book_entry(world, account, credits, label, content_type, world.settings.refund_type)


def book_entry(
    world: World,
    account: Account,
    credits: int,
    label: str,
    content_type: str,
    transaction_type: str,
    *,
    source: str = "api",
) -> Entry:
    """Write a ledger row and move the balance by it. Credits are signed, debits negative."""
    account.balance += credits
    account.extra = max(0, min(account.extra, account.balance))
    account.updated_at = world.now
    world.accounts.put(account)
    return world.add_entry(
        Entry(
            id=world.number("entry"),
            account_id=account.id,
            label=label,
            content_type=content_type,
            credits=credits,
            transaction_type=transaction_type,
            source=source,
            created_at=world.now,
        )
    )


def remaining_credits(world: World, account: Account) -> int:
    """The balance as the API shows it."""
    settings = world.settings
    including = settings.remaining_includes_extra and settings.dialect == "spec"
    return account.balance if including else account.balance - account.extra


def credits_meta(call: ApiCall, charge: Charge) -> dict[str, Any]:
    """`credits_meta` of an answer that charged."""
    left = remaining_credits(call.world, call.account)
    return {"credits": {"cost": charge.credits, "remaining": left}}


def last_charge(world: World, resource: str, feature: str) -> Charge | None:
    """The newest charge of a resource for a feature."""
    newest_first = reversed(world.charges.rows.values())
    fitting = (it for it in newest_first if it.resource == resource and it.feature == feature)
    return next(fitting, None)
