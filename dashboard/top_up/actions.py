"""Actions on automatic top-up and credit packs.

A change is only recorded here and sent by a worker; nothing in this module calls the service.
"""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi import tasks, top_up
from proxyapi.models import Account, CreditPack, TopUpChange
from proxyapi.refusals import AlreadyInProgress
from proxyapi.top_up import TopUpSetting

PACK_EXISTS = "A pack with this plan ID already exists."


@transaction.atomic
def change_top_up(
    *, by: Membership, account: Account, nonce: UUID, requested: TopUpSetting, seen: TopUpSetting
) -> TopUpChange:
    """Request a change from the `seen` setting; a worker sends it. Raises `Refusal`."""
    check_permission(by, Permission.MANAGE_MONEY)
    token = top_up.pick_account_token(account, by.user_id)
    change, is_new = top_up.request_change(token, by.user_id, nonce, requested, seen)
    if is_new:
        record_audit_event(
            by,
            AuditAction.TOP_UP_CHANGE,
            account.pk,
            before=seen.to_dict(),
            after=requested.applied_to(seen).to_dict(),
            change=str(change.pk),
        )
        tasks.enqueue_task_after_commit(tasks.save_top_up_task, change.pk)
    return change


@transaction.atomic
def add_credit_pack(
    *,
    by: Membership,
    plan_id: int,
    name: str,
    credits: int,
    price: Decimal | None = None,
    currency: str = "",
) -> CreditPack:
    """Add a pack that the service sells but does not list. Raises `Refusal` if the plan ID
    exists."""
    check_permission(by, Permission.MANAGE_MONEY)
    pack, is_new = CreditPack.objects.get_or_create(
        tenant=by.team.tenant,
        plan_id=plan_id,
        defaults={
            "name": name,
            "credits": credits,
            "price": price,
            "currency": currency if price is not None else "",
        },
    )
    if not is_new:
        raise AlreadyInProgress(PACK_EXISTS, field="plan_id")
    after = {"name": name, "credits": credits, "price": str(price or "")}
    record_audit_event(by, AuditAction.CREDIT_PACK_ADD, plan_id, after=after)
    return pack


@transaction.atomic
def remove_credit_pack(*, by: Membership, pack: CreditPack) -> None:
    check_permission(by, Permission.MANAGE_MONEY)
    before = {"name": pack.name, "credits": pack.credits}
    record_audit_event(by, AuditAction.CREDIT_PACK_REMOVE, pack.plan_id, before=before)
    pack.delete()
