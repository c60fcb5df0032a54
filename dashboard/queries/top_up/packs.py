"""The credit packs that somebody entered: the service lists none (pitfall 74)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.queries.top_up.facts import Facts
from proxyapi.models import CreditPack


@dataclass(frozen=True, slots=True)
class Pack:
    id: int
    plan_id: int
    name: str
    credits: int
    price: str


def packs_kept(facts: Facts) -> tuple[Pack, ...]:
    return tuple(
        Pack(one.pk, one.plan_id, one.name, one.credits, price_of(one)) for one in facts.packs
    )


def price_of(pack: CreditPack) -> str:
    return "" if pack.price is None else f"{pack.price:,.2f} {pack.currency}".strip()
