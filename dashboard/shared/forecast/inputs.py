"""Where an account stands under the top-up rules: its free credits, what a setting would buy."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal

from proxyapi.forecast import SimulatedAccount, TopUpOffer
from proxyapi.models import Account, AutoTopUp, CreditPack
from proxyapi.top_up import InferredTopUpState, TopUpSetting


def load_credit_packs(account: Account) -> list[CreditPack]:
    """One query."""
    packs = CreditPack.objects.filter(tenant=account.tenant_id)
    return list(packs.order_by("credits", "plan_id"))


def credits_per_top_up(setting: TopUpSetting, packs: Iterable[CreditPack]) -> int | None:
    """Credits of one top-up; None where nobody has said what its pack holds."""
    return setting.credits_per_top_up({pack.plan_id: pack.credits for pack in packs})


def build_top_up_offer(
    account: Account, setting: TopUpSetting, packs: Iterable[CreditPack]
) -> TopUpOffer | None:
    """None where it is on and nobody has said what its pack holds."""
    bought = credits_per_top_up(setting, packs)
    if setting.enabled and bought is None:
        return None
    credits = Decimal(bought or 0) if setting.enabled else Decimal(0)
    return TopUpOffer(setting.enabled, credits, account.monthly_credits)


def build_simulated_account(
    account: Account,
    row: AutoTopUp | None,
    inferred: InferredTopUpState,
    free: Decimal,
    now: datetime,
) -> SimulatedAccount:
    """`free`: what may be spent, so without what is held."""
    return SimulatedAccount(
        balance=max(Decimal(0), free),
        failures=row.consecutive_failures if row else 0,
        failed_at=row.failure_seen_at if row and inferred.cooldown_until else None,
        day=now.astimezone(UTC).date(),
        top_ups_today=inferred.successes_today,
    )
