"""Change an account's automatic top-up, and keep the team's credit packs.

A change is asked for here and sent by a worker; nothing in this file reaches the service.
"""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.db import transaction

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Membership
from dashboard.roles import Permission
from proxyapi import tasks, top_up
from proxyapi.models import Account, CreditPack, TopUpChange
from proxyapi.refusals import AlreadyInProgress
from proxyapi.top_up import TopUpSetting

KEPT_ALREADY = "A pack with this plan id is kept already."


@transaction.atomic
def change_top_up(
    *, by: Membership, account: Account, nonce: UUID, wanted: TopUpSetting, seen: TopUpSetting
) -> TopUpChange:
    """Ask for the setting, as seen by who asks; a worker sends it. Raises `Refusal`."""
    check(by, Permission.MANAGE_MONEY)
    token = top_up.pick_account_token(account, by.user_id)
    change, is_new = top_up.request_change(token, by.user_id, nonce, wanted, seen)
    if is_new:
        before, after = seen.to_dict(), (wanted if wanted.enabled else off(seen)).to_dict()
        note(by, "top_up.change", account.pk, change=str(change.pk), before=before, after=after)
        tasks.enqueue_task_after_commit(tasks.save_top_up_task, change.pk)
    return change


def off(seen: TopUpSetting) -> TopUpSetting:
    """Switched off, the rest is kept."""
    return TopUpSetting(False, seen.type, seen.plan_id, seen.units)


@transaction.atomic
def add_pack(
    *,
    by: Membership,
    plan_id: int,
    name: str,
    credits: int,
    price: Decimal | None = None,
    currency: str = "",
) -> CreditPack:
    """A pack that the service sells and does not list. Raises `Refusal`."""
    check(by, Permission.MANAGE_MONEY)
    pack, is_new = CreditPack.objects.get_or_create(
        vault=by.team.vault,
        plan_id=plan_id,
        defaults={
            "name": name,
            "credits": credits,
            "price": price,
            "currency": currency if price is not None else "",
        },
    )
    if not is_new:
        raise AlreadyInProgress(KEPT_ALREADY, field="plan_id")
    note(by, "credit_pack.add", plan_id, name=name, credits=credits, price=str(price or ""))
    return pack


@transaction.atomic
def remove_pack(*, by: Membership, pack: CreditPack) -> None:
    check(by, Permission.MANAGE_MONEY)
    note(by, "credit_pack.remove", pack.plan_id, name=pack.name, credits=pack.credits)
    pack.delete()
