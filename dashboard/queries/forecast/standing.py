"""Where an account stands under the top-up rules: its free credits, what a setting would buy."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal

from proxyapi.forecast import Offer, Standing
from proxyapi.models import Account, AutoTopUp, CreditPack
from proxyapi.top_up import Inferred, Setting


def packs_of(account: Account) -> list[CreditPack]:
    """One query."""
    packs = CreditPack.objects.filter(vault=account.vault_id)
    return list(packs.order_by("credits", "plan_id"))


def bought_by(setting: Setting, packs: Iterable[CreditPack]) -> int | None:
    """Credits of one top-up; None where nobody has said what its pack holds."""
    return setting.bought({pack.plan_id: pack.credits for pack in packs})


def offer_of(account: Account, setting: Setting, packs: Iterable[CreditPack]) -> Offer | None:
    """None where it is on and nobody has said what its pack holds."""
    bought = bought_by(setting, packs)
    if setting.enabled and bought is None:
        return None
    credits = Decimal(bought or 0) if setting.enabled else Decimal(0)
    return Offer(setting.enabled, credits, account.monthly_credits)


def standing_of(
    account: Account, row: AutoTopUp | None, inferred: Inferred, free: Decimal, now: datetime
) -> Standing:
    """`free`: what may be spent, so without what is held."""
    return Standing(
        balance=max(Decimal(0), free),
        failures=row.consecutive_failures if row else 0,
        failed_at=row.failure_seen_at if row and inferred.resting_until else None,
        day=now.astimezone(UTC).date(),
        today=inferred.today,
    )
