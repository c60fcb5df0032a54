"""Prices known before a request: the cost map, and the cost of this video's earlier renders."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Charge, Job
from proxyapi.models.charge import CHARGED_STATES, EARLIEST_TIME
from proxyapi.operations import (
    DEFAULT_SCRIPT_PRICE,
    FACELESS_RENDER_OPERATIONS,
    SCRIPT_PRICE,
    Price,
    get_operation,
    retry_operation_of,
)
from proxyapi.upstream import response_parsing

KEY_STEM_CHARS, MIN_COMMON_KEY_WORDS = 5, 2
# The other words for the same that the service uses elsewhere, by their beginnings.
KEY_SYNONYMS = {"video": "facel", "scrip": "conte", "ai": "promp"}


def cost_map_row(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    name = find_cost_map_key(account, key)
    return account.costs[name] if name else {}


def find_cost_map_key(account: Account, key: str) -> str:
    """The key itself in any case, else the only one that looks like it; empty without one."""
    names = [name for name, row in account.costs.items() if isinstance(row, dict)]
    if exact := next((name for name in names if name.upper() == key), ""):
        return exact
    similar = [name for name in names if is_similar_key(name, key)]
    return similar[0] if len(similar) == 1 else ""


def is_similar_key(name: str, key: str) -> bool:
    """Whether one has all words of the other, at least two, in any order and ending."""
    words, others = key_words(name), key_words(key)
    return len(words & others) >= MIN_COMMON_KEY_WORDS and (words <= others or others <= words)


def key_words(key: str) -> frozenset[str]:
    """The beginnings of its words, so that "export_videos" looks like FACELESS_EXPORT."""
    stems = (word[:KEY_STEM_CHARS] for word in re.findall("[a-z]+", key.lower()))
    return frozenset(KEY_SYNONYMS.get(stem, stem) for stem in stems)


def guessed_cost_map_key(account: Account, operation: str) -> str:
    """The key that the operation's price is taken from, if it only looks like the known one."""
    known = get_operation(operation).price.cost_map_key
    name = find_cost_map_key(account, known) if known else ""
    return name if name.upper() != known else ""


def script_credits(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = cost_map_credits(account, SCRIPT_PRICE)
    return credits if credits is not None else DEFAULT_SCRIPT_PRICE


def fixed_price(account: Account, operation: str) -> Decimal | None:
    """Credits of an operation with a fixed price: listed, else what it cost last on the account;
    None if it is not known."""
    listed = cost_map_credits(account, get_operation(operation).price)
    return listed if listed is not None else last_cost(account, operation)


def last_cost(account: Account, operation: str) -> Decimal | None:
    """What the operation cost last on this account; a free use tells nothing."""
    charges = Charge.objects.filter(account=account, operation=operation, state__in=CHARGED_STATES)
    latest = charges.filter(cost__gt=0).order_by("-sent_at").first()
    return latest.cost if latest else None


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
    return max(0, int(response_parsing.parse_credit_amount(uses) or 0))


def can_be_free(charge: Charge) -> bool:
    """Whether it may have cost nothing, or a free use, which leaves no debit (pitfall 57)."""
    price = get_operation(charge.operation).price
    return price.may_be_free or free_uses(charge.account, price) > 0


def cost_without_report(charge: Charge) -> Decimal | None:
    """Credits of what was done, if the answer names none: the exact price, or 0 if nothing is known
    to charge for it. None if only the ledger can tell."""
    price = get_operation(charge.operation).price
    if not charge.price:
        return Decimal(0)
    return charge.quote if price.exact and not can_be_free(charge) else None


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
