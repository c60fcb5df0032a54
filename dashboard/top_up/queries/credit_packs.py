"""The credit packs that somebody entered: the service lists none (pitfall 74)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.top_up.queries.page_data import TopUpFacts
from proxyapi.models import CreditPack


@dataclass(frozen=True, slots=True)
class CreditPackRow:
    id: int
    plan_id: int
    name: str
    credits: int
    price: str


def build_credit_pack_rows(facts: TopUpFacts) -> tuple[CreditPackRow, ...]:
    return tuple(
        CreditPackRow(one.pk, one.plan_id, one.name, one.credits, pack_price_text(one))
        for one in facts.packs
    )


def pack_price_text(pack: CreditPack) -> str:
    return "" if pack.price is None else f"{pack.price:,.2f} {pack.currency}".strip()
