"""What the confirmation before a change shows: what it buys, on which account, the most per day."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dashboard.shared.forecast import credits_per_top_up
from dashboard.top_up.queries.state import TopUpFacts
from proxyapi.forecast.top_up_rules import MAX_TOP_UPS_PER_DAY
from proxyapi.models import TopUpType
from proxyapi.top_up import TopUpSetting


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
        "before": before.describe(),
        "after": requested.describe(),
        "credits_each": None if bought is None else Decimal(bought),
        "max_credits_per_day": None if bought is None else Decimal(bought) * MAX_TOP_UPS_PER_DAY,
        "price": price,
        "threshold": account.monthly_credits / 10,
    }
