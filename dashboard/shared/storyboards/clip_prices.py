"""How certain the prices of scene clips are, and what one clip of a charge cost.

The spec names no price of scene clips: each is priced like a clip of the same engine and length.
Whether the service charges them, or the render instead, is only known from what it charged before.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum

from dashboard.shared.formatting import credits
from proxyapi.kinds import SCENE_CLIPS_OPERATION
from proxyapi.models import Account, Charge
from proxyapi.models.charge import CHARGED_STATES

ONE_CREDIT = Decimal(1)
FREE_CLIPS_NOTE = "The last clips cost nothing: the render is what is charged."


class ClipPriceForm(StrEnum):
    """The values are kinds of `{% amount %}`."""

    ABOUT = "about"
    EXACT = "exact"
    FREE = "free"


def clip_price_form(account: Account) -> ClipPriceForm:
    """Return how the next clips are priced, from the last ones this account was charged for."""
    settled = Charge.objects.filter(
        account=account, operation=SCENE_CLIPS_OPERATION, state__in=CHARGED_STATES
    )
    last = settled.order_by("-settled_at", "-created_at").values_list("quote", "cost").first()
    if last is None:
        return ClipPriceForm.ABOUT
    quote, cost = last
    if not cost:
        return ClipPriceForm.FREE
    return ClipPriceForm.EXACT if cost == quote else ClipPriceForm.ABOUT


def clip_price_text(amount: Decimal | None, form: ClipPriceForm) -> str:
    """Return a text such as `≈ 42 cr`, `42 cr` or `free`; empty if the price is not known."""
    if form == ClipPriceForm.FREE:
        return "free"
    if amount is None:
        return ""
    return f"{'≈ ' if form == ClipPriceForm.ABOUT else ''}{credits(amount)} cr"


def split_clip_cost(cost: Decimal, shares: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return what each clip cost of a charge for several, by the key of its share: its list price,
    or its seconds. The parts are whole credits and add up to the cost."""
    total = sum(shares.values(), Decimal(0))
    if not total:
        return {}
    parts = {
        key: (cost * share / total).quantize(ONE_CREDIT, ROUND_DOWN)
        for key, share in shares.items()
    }
    rest = cost - sum(parts.values(), Decimal(0))
    # The largest remainders come first; the last one takes what is no whole credit.
    by_remainder = sorted(shares, key=lambda key: parts[key] - cost * shares[key] / total)
    for key in by_remainder:
        step = min(ONE_CREDIT, rest)
        parts[key] += step
        rest -= step
    return parts
