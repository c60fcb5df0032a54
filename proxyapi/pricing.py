"""Prices that are known before asking: the cost map, and what this video's renders took before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Charge, Job
from proxyapi.models.charge import EARLIEST_TIME, FACELESS_RENDER_OPERATIONS
from proxyapi.upstream import response_parsing
from proxyapi.upstream.catalog import CATALOG
from proxyapi.upstream.operation import ExecutionEvidence

SCRIPT_COST_KEY = "CONTENT_PROMPT_REQUESTED"
DEFAULT_SCRIPT_PRICE = Decimal(4)  # only until the cost map was read once
SCRIPT_OPERATIONS = tuple(
    name for name, row in CATALOG.items() if row.evidence is ExecutionEvidence.SCRIPT
)
# What each of these costs stands in the cost map; the fallback is the spec's, where it tells one.
COST_MAP_KEYS: Mapping[str, tuple[str, Decimal | None]] = {
    **dict.fromkeys(SCRIPT_OPERATIONS, (SCRIPT_COST_KEY, DEFAULT_SCRIPT_PRICE)),
    "ideas.discover": ("IDEA_DISCOVERY", Decimal(15)),
    "characters.train": ("CHARACTER_TRAINING", Decimal(10)),
    "characters.preview": ("CHARACTER_PREVIEW", None),
    "faceless.export": ("FACELESS_EXPORT", None),
    "ai_visuals.regenerate": ("AI_IMAGE_REGENERATED", None),
}
# The spec does not say that they charge, nor that they do not (pitfalls 36, 51). A clone charges
# when a slot is bought with it.
MAYBE_FREE_OPERATIONS = frozenset(
    {
        "ideas.discover",
        "faceless.export",
        "ai_visuals.upload",
        "ai_visuals.regenerate",
        "text_to_scene.prompt",
        "text_to_scene.clips",
        "text_to_scene.render",
        "characters.preview",
        "voice_clones.create",
    }
)
# The price that was shown is the one that is charged (spec, Credit charges); others are about it.
EXACT_PRICE_OPERATIONS = frozenset(
    {
        *SCRIPT_OPERATIONS,
        "ideas.discover",
        "characters.train",
        "text_to_video.create",
        "text_to_scene.render",
        "voice_clones.create",
    }
)


def cost_map_row(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    for name, row in account.costs.items():
        if name.upper() == key and isinstance(row, dict):
            return row
    return {}


def script_credits(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = response_parsing.parse_credit_amount(
        cost_map_row(account, SCRIPT_COST_KEY).get("credits")
    )
    return credits if credits is not None and credits >= 0 else DEFAULT_SCRIPT_PRICE


def fixed_price(account: Account, operation: str) -> Decimal | None:
    """Credits of an operation that always costs the same; None where nothing tells them."""
    key, fallback = COST_MAP_KEYS.get(operation, ("", None))
    credits = response_parsing.parse_credit_amount(cost_map_row(account, key).get("credits"))
    return credits if credits is not None and credits >= 0 else fallback


def free_script_uses(account: Account) -> int:
    free = cost_map_row(account, SCRIPT_COST_KEY).get("free")
    return free if isinstance(free, int) else 0


def can_be_free(charge: Charge) -> bool:
    """Whether it may have cost nothing, or a free use, which leaves no debit (pitfall 57)."""
    if charge.operation in MAYBE_FREE_OPERATIONS:
        return True
    key, _ = COST_MAP_KEYS.get(charge.operation, ("", None))
    free = cost_map_row(charge.account, key).get("free")
    return isinstance(free, int) and free > 0


def is_cost_unexpected(charge: Charge, cost: Decimal) -> bool:
    """Whether it took what the price that was shown does not explain."""
    if charge.quote is None or can_be_free(charge):
        return cost > charge.hold
    if not cost and charge.quote:
        return True  # about the price is never nothing
    return cost > charge.hold or (
        charge.operation in EXACT_PRICE_OPERATIONS and cost != charge.quote
    )


def estimate_retry_price(job: Job) -> Decimal | None:
    """About what a retry takes: a newer estimate, else what the last render took.

    None while the settings have no price: a retry renders them as they stand. It is told from
    `job.charges.all()`, which a page has read already.
    """
    if job.unsent_settings():
        return None
    last = last_paid_render(job)
    return last.cost if last else job.estimate


def last_paid_render(job: Job) -> Charge | None:
    """The render that tells what another one takes: not one that was free, and none after the
    settings were priced again."""
    ran = [
        one
        for one in job.charges.all()
        if one.operation in FACELESS_RENDER_OPERATIONS and one.is_charged
    ]
    told = [one for one in ran if one.cost and one.sent_at is not None]
    last = max(told, key=charge_sent_time, default=None)
    return None if last is None or is_repriced_since(job, last) else last


def charge_sent_time(charge: Charge) -> datetime:
    return charge.sent_at or EARLIEST_TIME


def is_repriced_since(job: Job, last: Charge) -> bool:
    """Whether the settings were priced again after that render."""
    if job.estimate is None or job.estimate_as_of is None:
        return False
    return job.estimate_as_of > charge_sent_time(last)


def hold_for_estimate(quote: Decimal) -> Decimal:
    """What is held for an approximate price: a little above it, in whole credits (pitfall 43)."""
    margin = Decimal(str(settings.HOLD_MARGIN))
    return (quote * margin).to_integral_value(rounding=ROUND_CEILING)


def hold_for_operation(operation: str, price: Decimal) -> Decimal:
    """What is held for an operation at this price: nothing more where the price is exact."""
    return price if operation in EXACT_PRICE_OPERATIONS else hold_for_estimate(price)
