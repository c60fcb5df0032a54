"""Actions on budgets, for members who may manage money.

Each change is recorded with the previous limits. Lock order: budgets, the request, the account (see
`shared.charging`).
"""

from __future__ import annotations

from decimal import Decimal

from django.db import IntegrityError, transaction

from dashboard.models import (
    AuditAction,
    Budget,
    BudgetChange,
    BudgetPeriod,
    Label,
    Membership,
    Team,
    User,
)
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.models.account import amount_text
from proxyapi.refusals import BY_OTHERS, Refusal, StaleData, format_credits

BUDGET_EXISTS = "This budget already exists. Change it instead of adding another one."
LIMIT_REQUIRED = "Set at least one of the two limits."
LIMITS_REVERSED = "The limit must not be below the alert."
LIMIT_NEGATIVE = "The limit must not be below 0, and the alert must be above 0."
BUDGET_CHANGED_MEANWHILE = (
    f"This budget was changed {BY_OTHERS}. It is now: {{now}}. Save again to apply the values "
    "below."
)
BUDGET_ENDED_MEANWHILE = f"This budget was removed {BY_OTHERS}. Add it again to set limits."
LIMIT_IS_RAISED = "This limit is raised for a time. End the raise first, or set another limit."
LIMIT_FIELDS = ("soft", "hard")
Limits = tuple[Decimal | None, Decimal | None]  # in the order of LIMIT_FIELDS


@transaction.atomic
def add_budget(
    *,
    by: Membership,
    member: User | None,
    period: BudgetPeriod,
    soft: Decimal | None,
    hard: Decimal | None,
    label: Label | None = None,
) -> Budget:
    """Create a budget for a member, for a label, or for the whole team; an ended one is activated
    again."""
    check_permission(by, Permission.MANAGE_MONEY)
    check_limits(soft, hard)
    of = {"team": by.team, "member": member, "label": label, "period": period}
    existing = Budget.objects.select_for_update().filter(**of)
    budget = existing.first() or Budget(**of, active=False)
    if budget.active:
        raise Refusal(BUDGET_EXISTS, field="period")
    budget.soft, budget.hard, budget.active = soft, hard, True
    try:
        with transaction.atomic():
            budget.save()
    except IntegrityError:
        raise Refusal(BUDGET_EXISTS, field="period") from None
    record_budget_change(by, AuditAction.BUDGET_ADD, budget, (None, None))
    return budget


@transaction.atomic
def change_budget(
    *,
    by: Membership,
    budget: Budget,
    soft: Decimal | None,
    hard: Decimal | None,
    drawn: str = "",
) -> bool:
    """Set the limits; False if they are the same.

    `drawn` is the `Budget.limits_version` that the form was built from. Raises `StaleData` if
    another member changed the budget meanwhile.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    check_limits(soft, hard)
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if not row.active:
        raise StaleData(BUDGET_ENDED_MEANWHILE)
    if drawn not in ("", row.limits_version):
        raise StaleData(BUDGET_CHANGED_MEANWHILE.format(now=describe_budget_limits(row)))
    if (row.soft, row.hard) == (soft, hard):
        return False
    if hard is None and row.raise_amount is not None:
        raise Refusal(LIMIT_IS_RAISED, field="hard")
    before = (row.soft, row.hard)
    row.soft, row.hard = soft, hard
    row.save(update_fields=LIMIT_FIELDS)
    record_budget_change(by, AuditAction.BUDGET_CHANGE, row, before)
    return True


@transaction.atomic
def end_budget(*, by: Membership, budget: Budget) -> None:
    """Deactivate the budget. The row stays, because it is part of the history."""
    check_permission(by, Permission.MANAGE_MONEY)
    row = Budget.objects.select_for_update(of=("self",)).get(pk=budget.pk)
    if row.active:
        row.active, row.raise_amount, row.raise_until = False, None, None
        row.save(update_fields=["active", "raise_amount", "raise_until"])
        record_budget_change(by, AuditAction.BUDGET_END, row, (row.soft, row.hard))


def check_limits(soft: Decimal | None, hard: Decimal | None) -> None:
    if soft is None and hard is None:
        raise Refusal(LIMIT_REQUIRED, field="hard")
    if (soft is not None and soft <= 0) or (hard is not None and hard < 0):
        raise Refusal(LIMIT_NEGATIVE, field="hard")
    if soft is not None and hard is not None and hard < soft:
        raise Refusal(LIMITS_REVERSED, field="hard")


def record_budget_change(
    by: Membership, action: AuditAction, budget: Budget, before: Limits
) -> None:
    """Write the row of the budget history and the one of the audit log."""
    after = (budget.soft, budget.hard) if budget.active else (None, None)
    BudgetChange.objects.create(
        budget=budget,
        changed_by=by.user,
        soft_before=before[0],
        hard_before=before[1],
        soft_after=after[0],
        hard_after=after[1],
    )
    record_audit_event(
        by,
        action,
        budget.pk,
        before=limits_by_name(before),
        after=limits_by_name(after),
        **audit_details(budget),
    )
    publish_budget_change(by.team, budget)


def audit_details(budget: Budget) -> dict[str, str]:
    """Whose budget it is, for an audit row."""
    member, label = str(budget.member or ""), str(budget.label or "")
    return {"member": member, "label": label, "period": budget.period}


def publish_budget_change(team: Team, budget: Budget) -> None:
    publish_event(team.tenant_id, EventType.BUDGET, budget.pk)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, team.pk)


def limits_by_name(limits: Limits) -> dict[str, str]:
    names_and_limits = zip(LIMIT_FIELDS, limits, strict=True)
    return {name: amount_text(limit) for name, limit in names_and_limits if limit is not None}


def describe_budget_limits(budget: Budget) -> str:
    """ "2,500 cr at most and an alert at 2,000"."""
    if budget.hard == 0:
        return "no charges allowed"
    hard, soft = budget.hard, budget.soft
    limit_text = "" if hard is None else f"{format_credits(hard)} cr at most"
    alert_text = "" if soft is None else f"an alert at {format_credits(soft)}"
    return " and ".join(filter(None, (limit_text, alert_text)))
