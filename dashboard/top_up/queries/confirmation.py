"""What the confirmation before a change shows: what it buys, on which account, the most per day."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dashboard.shared.forecast import credits_per_top_up
from dashboard.top_up.queries.state import TopUpFacts
from proxyapi.forecast.top_up_rules import MAX_TOP_UPS_PER_DAY
from proxyapi.models import TopUpType
from proxyapi.top_up import TopUpSetting

USUAL_CREDITS_PER_TOP_UP = 10_000  # of the presets the most
UNUSUAL_INCREASE = 3  # times what each top-up buys now


def unusual_credits_per_top_up(
    facts: TopUpFacts, requested: TopUpSetting, before: TopUpSetting
) -> int | None:
    """The credits of each requested top-up, if they are far more than those of the setting now;
    otherwise None. Such an amount is typed again, because one digit too many buys ten times it."""
    bought = credits_per_top_up(requested, facts.packs) or 0
    now = credits_per_top_up(before, facts.packs) or 0
    is_unusual = bought > max(USUAL_CREDITS_PER_TOP_UP, UNUSUAL_INCREASE * now)
    return bought if requested.enabled and is_unusual else None


def load_top_up_confirmation(
    facts: TopUpFacts, requested: TopUpSetting, before: TopUpSetting
) -> dict[str, Any]:
    """`credits_each` is None if the pack's credits are unknown; `price` is the pack's, "" if
    unknown."""
    account, bought = facts.account, credits_per_top_up(requested, facts.packs)
    packs = facts.packs if requested.type == TopUpType.PACK else ()
    pack = next((pack for pack in packs if pack.plan_id == requested.plan_id), None)
    price = f"{pack.price:,.2f} {pack.currency}" if pack and pack.price is not None else ""
    return {
        "account": account,
        "enables": requested.enabled,
        "is_on": before.enabled,
        "before": before.describe(),
        "after": requested.describe(),
        "credits_each": None if bought is None else Decimal(bought),
        "max_credits_per_day": None if bought is None else Decimal(bought) * MAX_TOP_UPS_PER_DAY,
        "price": price,
        "threshold": account.monthly_credits / 10,
    }
