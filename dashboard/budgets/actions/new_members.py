"""The budget that new members start with; `shared.new_members` gives it to them."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from dashboard.budgets.actions.budgets import check_limits, limits_by_name
from dashboard.models import AuditAction, BudgetPeriod, Membership, NewMemberBudget, Team
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import BY_OTHERS, StaleData

CHANGED_MEANWHILE = f"This was changed {BY_OTHERS}. Save again to apply the values below."


@transaction.atomic
def set_new_member_budget(
    *,
    by: Membership,
    period: BudgetPeriod | None,
    soft: Decimal | None,
    hard: Decimal | None,
    drawn: str,
) -> None:
    """Set the budget of members who join from now on; without a period they get none. `drawn` is
    the version that the form was built from. Raises `StaleData` if it is another one now."""
    check_permission(by, Permission.MANAGE_MONEY)
    # Also if there is no row yet, two saves do not cross.
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    row = NewMemberBudget.objects.filter(team=by.team).first()
    if drawn != (row.limits_version if row else ""):
        raise StaleData(CHANGED_MEANWHILE)
    before = new_member_limits(row)
    if period is None:
        NewMemberBudget.objects.filter(team=by.team).delete()
        row = None
    else:
        check_limits(soft, hard)
        fields = {"period": period, "soft": soft, "hard": hard, "set_by": by.user}
        row, _ = NewMemberBudget.objects.update_or_create(team=by.team, defaults=fields)
    record_audit_event(
        by,
        AuditAction.BUDGET_NEW_MEMBERS,
        by.team_id,
        before=before,
        after=new_member_limits(row),
        member="new members",
    )
    publish_event(by.team.tenant_id, EventType.BUDGET, by.team_id)


def new_member_limits(row: NewMemberBudget | None) -> dict[str, str]:
    return {} if row is None else {**limits_by_name((row.soft, row.hard)), "period": row.period}
