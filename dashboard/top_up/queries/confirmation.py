"""The confirmation before a change of the top-up: what it buys, on which account, and the most per
day."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID, uuid4

from dashboard.shared.forecast import credits_per_top_up
from dashboard.top_up.queries.state import TopUpFacts
from proxyapi.forecast.top_up_rules import MAX_TOP_UPS_PER_DAY
from proxyapi.models import TopUpType
from proxyapi.top_up import TopUpSetting


@dataclass(frozen=True, slots=True)
class TopUpConfirmation:
    """`credits_each` is None if the pack's credits are unknown; `price` is the pack's, empty if
    unknown."""

    account_id: UUID
    account: str
    nonce: UUID
    enables: bool
    before: str
    after: str
    credits_each: Decimal | None
    price: str
    threshold: Decimal
    refusal: str

    @property
    def max_credits_per_day(self) -> Decimal | None:
        """Credits of the most top-ups that one day allows."""
        return None if self.credits_each is None else self.credits_each * MAX_TOP_UPS_PER_DAY


def build_top_up_confirmation(
    facts: TopUpFacts,
    requested: TopUpSetting,
    before: TopUpSetting,
    nonce: UUID | None = None,
    refusal: str = "",
) -> TopUpConfirmation:
    account, bought = facts.account, credits_per_top_up(requested, facts.packs)
    is_pack = requested.type == TopUpType.PACK
    pack = next(
        (
            pack_option
            for pack_option in facts.packs
            if is_pack and pack_option.plan_id == requested.plan_id
        ),
        None,
    )
    price = f"{pack.price:,.2f} {pack.currency}" if pack and pack.price is not None else ""
    return TopUpConfirmation(
        account_id=account.pk,
        account=account.label,
        nonce=nonce or uuid4(),
        enables=requested.enabled,
        before=before.describe(),
        after=requested.describe(),
        credits_each=None if bought is None else Decimal(bought),
        price=price,
        threshold=account.monthly_credits / 10,
        refusal=refusal,
    )
