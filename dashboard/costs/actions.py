"""The price per credit of an account."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account
from proxyapi.models.account import amount_text
from proxyapi.models.credit_price import CreditPrice


@transaction.atomic
def set_credit_price(*, by: Membership, account: Account, price: CreditPrice | None) -> None:
    """Set the price by which the team estimates its credits in money; None removes it."""
    check_permission(by, Permission.MANAGE_MONEY)
    before = Account.objects.get_locked(account.pk).credit_price
    if price == before:
        return
    amount, currency = price or (None, "")
    Account.objects.filter(pk=account.pk).update(price_per_credit=amount, price_currency=currency)
    record_audit_event(
        by,
        AuditAction.ACCOUNT_PRICE,
        account.pk,
        before=price_audit_details(before),
        after=price_audit_details(price),
    )
    publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)


def price_audit_details(price: CreditPrice | None) -> dict[str, str]:
    return {"price": f"{amount_text(price.amount)} {price.currency}"} if price else {}
