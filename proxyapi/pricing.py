"""Prices known before a request: the cost map, and the cost of this video's earlier renders."""

from __future__ import annotations

from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Charge, Job
from proxyapi.models.charge import EARLIEST_TIME
from proxyapi.operations import (
    DEFAULT_SCRIPT_PRICE,
    FACELESS_RENDER_OPERATIONS,
    SCRIPT_PRICE,
    Price,
    get_operation,
    retry_operation_of,
)
from proxyapi.upstream import response_parsing


def cost_map_row(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    for name, row in account.costs.items():
        if name.upper() == key and isinstance(row, dict):
            return row
    return {}


def script_credits(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = cost_map_credits(account, SCRIPT_PRICE)
    return credits if credits is not None else DEFAULT_SCRIPT_PRICE


def fixed_price(account: Account, operation: str) -> Decimal | None:
    """Credits of an operation with a fixed price; None if it is not known."""
    return cost_map_credits(account, get_operation(operation).price)


def listed_price_or_free(account: Account, operation: str) -> Decimal:
    """Credits of an operation that may be free: 0 if the cost map does not list it. The ledger says
    what it costs after all."""
    price = fixed_price(account, operation)
    return Decimal(0) if price is None else price


def cost_map_credits(account: Account, price: Price) -> Decimal | None:
    """Credits in the cost map, otherwise the fallback of the table of operations."""
    row = cost_map_row(account, price.cost_map_key)
    credits = response_parsing.parse_credit_amount(row.get("credits"))
    return credits if credits is not None and credits >= 0 else price.fallback


def free_script_uses(account: Account) -> int:
    return free_uses(account, SCRIPT_PRICE)


def free_uses(account: Account, price: Price) -> int:
    """Uses that the upstream grants before it charges, by the cost map."""
    uses = cost_map_row(account, price.cost_map_key).get("free")
    return uses if isinstance(uses, int) else 0


def can_be_free(charge: Charge) -> bool:
    """Whether it may have cost nothing, or a free use, which leaves no debit (pitfall 57)."""
    price = get_operation(charge.operation).price
    return price.may_be_free or free_uses(charge.account, price) > 0


def is_cost_unexpected(charge: Charge, cost: Decimal) -> bool:
    """Whether the displayed price does not explain the cost."""
    if charge.quote is None or can_be_free(charge):
        return cost > charge.hold
    if not cost and charge.quote:
        return True  # a price above 0 never costs nothing
    is_exact = get_operation(charge.operation).price.exact
    return cost > charge.hold or (is_exact and cost != charge.quote)


def estimate_retry_price(job: Job) -> Decimal | None:
    """The approximate credits of a retry: a newer estimate, otherwise the cost of the last render.

    None if the kind has no retry, or if settings are unsent and so have no price yet. Uses
    `job.charges.all()`, which pages have prefetched.
    """
    draft = job.draft_or_none
    if retry_operation_of(job.kind) is None or (draft and draft.unsent_settings()):
        return None
    last = last_paid_render(job)
    if last:
        return last.cost
    return draft.estimate if draft else None


def last_paid_render(job: Job) -> Charge | None:
    """The last render whose cost predicts the next one's: not a free one, and none from before the
    settings were priced again."""
    renders = [
        charge
        for charge in job.charges.all()
        if charge.operation in FACELESS_RENDER_OPERATIONS and charge.is_charged
    ]
    paid = [charge for charge in renders if charge.cost and charge.sent_at is not None]
    last = max(paid, key=charge_sent_time, default=None)
    return None if last is None or is_repriced_since(job, last) else last


def charge_sent_time(charge: Charge) -> datetime:
    return charge.sent_at or EARLIEST_TIME


def is_repriced_since(job: Job, last: Charge) -> bool:
    """Whether the settings were priced again after that render."""
    draft = job.draft_or_none
    if draft is None or draft.estimate is None or draft.estimate_as_of is None:
        return False
    return draft.estimate_as_of > charge_sent_time(last)


def hold_for_estimate(quote: Decimal) -> Decimal:
    """The hold for an approximate price: a little above it, in whole credits (pitfall 43)."""
    margin = Decimal(str(settings.HOLD_MARGIN))
    return (quote * margin).to_integral_value(rounding=ROUND_CEILING)


def hold_for_operation(operation: str, price: Decimal) -> Decimal:
    """The hold for an operation at this price: not more than the price if it is exact."""
    return price if get_operation(operation).price.exact else hold_for_estimate(price)
