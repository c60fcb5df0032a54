"""What a new member starts with: the team's budget for new members."""

from __future__ import annotations

from dashboard.models import AuditAction, Budget, BudgetChange, Membership, NewMemberBudget
from dashboard.shared.audit_log import record_audit_event, system_actor
from proxyapi.events import EventType, publish_event
from proxyapi.models.account import amount_text

GIVEN_BY = "Budget for new members"


def give_new_member_budget(member: Membership) -> Budget | None:
    """Give the member the team's budget for new members, in the transaction in which they join; one
    that they had before they left is set to it again."""
    default = NewMemberBudget.objects.filter(team=member.team_id).select_related("set_by").first()
    if default is None:
        return None
    limits = {"soft": default.soft, "hard": default.hard}
    budget, _ = Budget.objects.update_or_create(
        team=member.team,
        member=member.user,
        period=default.period,
        defaults={**limits, "active": True, "raise_amount": None, "raise_until": None},
    )
    BudgetChange.objects.create(
        budget=budget,
        changed_by=default.set_by,
        soft_after=default.soft,
        hard_after=default.hard,
    )
    record_audit_event(
        system_actor(member.team, GIVEN_BY),
        AuditAction.BUDGET_ADD,
        budget.pk,
        after={name: amount_text(limit) for name, limit in limits.items() if limit is not None},
        member=str(member.user),
        label="",
        period=default.period,
    )
    publish_event(member.team.tenant_id, EventType.BUDGET, budget.pk)
    return budget
