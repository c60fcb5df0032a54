"""Raise a budget for a time: the raise ends by itself, also while no worker runs, because its end
is compared when a charge is admitted. The worker then writes the audit row."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.budgets.actions.budgets import (
    BUDGET_CHANGED_MEANWHILE,
    BUDGET_ENDED_MEANWHILE,
    audit_details,
    describe_budget_limits,
    publish_budget_change,
)
from dashboard.models import AuditAction, Budget, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import AuditActor, record_audit_event, system_actor
from dashboard.shared.roles import Permission
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData

MAX_RAISE = timedelta(days=366)
NO_LIMIT = "This budget has no limit to raise. Set one first."
END_IN_PAST = "Enter a time in the future."
END_TOO_LATE = "A raise ends within a year. To raise it for longer, change the limit."
NO_RAISE = "This budget is not raised any more."
ENDED_BY = "Reelroom"


@transaction.atomic
def raise_budget(
    *, by: Membership, budget: Budget, amount: Decimal, until: datetime, drawn: str = ""
) -> None:
    """Add `amount` credits to the limit until `until` (UTC), in place of a raise before. Raises
    `StaleData` if the budget was changed since `drawn`, and `Refusal`."""
    check_permission(by, Permission.MANAGE_MONEY)
    now = timezone.now()
    if until <= now:
        raise Refusal(END_IN_PAST, field="until")
    if until > now + MAX_RAISE:
        raise Refusal(END_TOO_LATE, field="until")
    row = lock_active_budget(budget)
    if drawn not in ("", row.limits_version):
        raise StaleData(BUDGET_CHANGED_MEANWHILE.format(now=describe_budget_limits(row)))
    if row.hard is None:
        raise Refusal(NO_LIMIT)
    before = describe_raise(row)
    row.raise_amount, row.raise_until = amount, until
    save_raise(by, row, AuditAction.BUDGET_RAISE, before)


@transaction.atomic
def end_raise(*, by: Membership, budget: Budget) -> None:
    """Take the raise back before its end. Raises `StaleData` if there is none."""
    check_permission(by, Permission.MANAGE_MONEY)
    row = lock_active_budget(budget)
    if row.raise_amount is None:
        raise StaleData(NO_RAISE)
    clear_raise(by, row)


def end_due_raises() -> int:
    """Write down which raises have ended; return how many."""
    due = Budget.objects.filter(raise_until__lte=timezone.now())
    return sum(end_due_raise(pk) for pk in due.values_list("pk", flat=True))


@transaction.atomic
def end_due_raise(budget_id: UUID) -> bool:
    rows = Budget.objects.select_for_update(of=("self",)).select_related("team__tenant")
    row = rows.filter(pk=budget_id, raise_until__lte=timezone.now()).first()
    if row is None:  # it was raised anew meanwhile
        return False
    clear_raise(system_actor(row.team, ENDED_BY), row)
    return True


def clear_raise(by: Membership | AuditActor, row: Budget) -> None:
    before = describe_raise(row)
    row.raise_amount = row.raise_until = None
    save_raise(by, row, AuditAction.BUDGET_RAISE_END, before)


def save_raise(
    by: Membership | AuditActor, row: Budget, action: AuditAction, before: dict[str, str]
) -> None:
    row.save(update_fields=["raise_amount", "raise_until"])
    record_audit_event(
        by, action, row.pk, before=before, after=describe_raise(row), **audit_details(row)
    )
    publish_budget_change(by.team, row)


def lock_active_budget(budget: Budget) -> Budget:
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if not row.active:
        raise StaleData(BUDGET_ENDED_MEANWHILE)
    return row


def describe_raise(row: Budget) -> dict[str, str]:
    """The raise for an audit row: the limit with it, its amount, and its end in the team's zone."""
    if row.raise_amount is None or row.raise_until is None:
        return {"hard": amount_text(row.hard or Decimal(0))}
    end = row.raise_until.astimezone(row.team.tenant.zone)
    return {
        "hard": amount_text((row.hard or Decimal(0)) + row.raise_amount),
        "raise_amount": amount_text(row.raise_amount),
        "raise_until": f"{end.day} {end:%b %Y, %H:%M}",
    }
