"""Prices that are known before asking: the cost map, and what this video's renders took before."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Charge, Job
from proxyapi.models.charge import BEFORE_ALL, FACELESS_RENDERS
from proxyapi.upstream import wire
from proxyapi.upstream.catalog import CATALOG
from proxyapi.upstream.operation import Evidence

SCRIPT_KEY = "CONTENT_PROMPT_REQUESTED"
SCRIPT_FALLBACK = Decimal(4)  # only until the cost map was read once
SCRIPTS = tuple(name for name, row in CATALOG.items() if row.evidence is Evidence.SCRIPT)
# What each of these costs stands in the cost map; the fallback is the spec's, where it tells one.
FEATURES: Mapping[str, tuple[str, Decimal | None]] = {
    **dict.fromkeys(SCRIPTS, (SCRIPT_KEY, SCRIPT_FALLBACK)),
    "ideas.discover": ("IDEA_DISCOVERY", Decimal(15)),
    "characters.train": ("CHARACTER_TRAINING", Decimal(10)),
    "characters.preview": ("CHARACTER_PREVIEW", None),
    "faceless.export": ("FACELESS_EXPORT", None),
    "ai_visuals.regenerate": ("AI_IMAGE_REGENERATED", None),
}
# The spec does not say that they charge, nor that they do not (pitfalls 36, 51). A clone charges
# when a slot is bought with it.
MAY_BE_FREE = frozenset(
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
EXACT = frozenset(
    {
        *SCRIPTS,
        "ideas.discover",
        "characters.train",
        "text_to_video.create",
        "text_to_scene.render",
        "voice_clones.create",
    }
)


def feature(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    for name, row in account.costs.items():
        if name.upper() == key and isinstance(row, dict):
            return row
    return {}


def script(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = wire.amount(feature(account, SCRIPT_KEY).get("credits"))
    return credits if credits is not None and credits >= 0 else SCRIPT_FALLBACK


def fixed(account: Account, operation: str) -> Decimal | None:
    """Credits of an operation that always costs the same; None where nothing tells them."""
    key, fallback = FEATURES.get(operation, ("", None))
    credits = wire.amount(feature(account, key).get("credits"))
    return credits if credits is not None and credits >= 0 else fallback


def free_scripts(account: Account) -> int:
    free = feature(account, SCRIPT_KEY).get("free")
    return free if isinstance(free, int) else 0


def has_free_uses(charge: Charge) -> bool:
    """Whether it may have cost nothing, or a free use, which leaves no debit (pitfall 57)."""
    if charge.operation in MAY_BE_FREE:
        return True
    key, _ = FEATURES.get(charge.operation, ("", None))
    free = feature(charge.account, key).get("free")
    return isinstance(free, int) and free > 0


def is_off(charge: Charge, cost: Decimal) -> bool:
    """Whether it took what the price that was shown does not explain."""
    if charge.quote is None or has_free_uses(charge):
        return cost > charge.hold
    if not cost and charge.quote:
        return True  # about the price is never nothing
    return cost > charge.hold or (charge.operation in EXACT and cost != charge.quote)


def retry(job: Job) -> Decimal | None:
    """About what a retry takes: a newer estimate, else what the last render took.

    None while the settings have no price: a retry renders them as they stand. It is told from
    `job.charges.all()`, which a page has read already.
    """
    if job.unsent():
        return None
    last = last_render(job)
    return last.cost if last else job.estimate


def last_render(job: Job) -> Charge | None:
    """The render that tells what another one takes: not one that was free, and none after the
    settings were priced again."""
    ran = [one for one in job.charges.all() if one.operation in FACELESS_RENDERS and one.is_spent]
    told = [one for one in ran if one.cost and one.sent_at is not None]
    last = max(told, key=sent_at, default=None)
    return None if last is None or is_newer(job, last) else last


def sent_at(charge: Charge) -> datetime:
    return charge.sent_at or BEFORE_ALL


def is_newer(job: Job, last: Charge) -> bool:
    """Whether the settings were priced again after that render."""
    if job.estimate is None or job.estimate_as_of is None:
        return False
    return job.estimate_as_of > sent_at(last)


def hold_for(quote: Decimal) -> Decimal:
    """What is held for an approximate price: a little above it, in whole credits (pitfall 43)."""
    margin = Decimal(str(settings.HOLD_MARGIN))
    return (quote * margin).to_integral_value(rounding=ROUND_CEILING)


def hold_of(operation: str, price: Decimal) -> Decimal:
    """What is held for an operation at this price: nothing more where the price is exact."""
    return price if operation in EXACT else hold_for(price)
