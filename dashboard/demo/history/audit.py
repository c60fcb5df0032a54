"""The audit rows of the demo's past, as its actions would have recorded them at their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from dashboard.budgets.actions.budgets import limits_by_name
from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    AuditActorKind,
    AuditEvent,
    AuditSource,
    BudgetChange,
    Preset,
    Team,
    User,
)
from dashboard.shared.approvals import DECISION_ACTIONS
from proxyapi.models import ApiKey, Charge, Job, Token, TopUpChange

Row = dict[str, Any]


def append_past_rows(team: Team, recorded: Sequence[Row]) -> None:
    """Append the past in its order. `recorded` are the rows that actions wrote while it was stored:
    they are as old as the token, draft, key or preset that they name."""
    created: dict[str, datetime] = {}
    for model in (Token, Job, ApiKey):
        rows_of_model = model.objects.filter(tenant=team.tenant_id)
        created |= {str(pk): at for pk, at in rows_of_model.values_list("pk", "created_at")}
    presets = Preset.objects.filter(team=team).values_list("pk", "created_at")
    created |= {str(pk): at for pk, at in presets}
    rows = [{**row, "happened_at": created[row["target"]]} for row in recorded]
    rows += [
        *iter_budget_rows(team),
        *iter_top_up_rows(team),
        *iter_charge_rows(team),
        *iter_approval_rows(team),
    ]
    AuditEvent.objects.append_all(team.pk, sorted(rows, key=lambda row: row["happened_at"]))


def build_row(
    team: Team, by: User, at: datetime, action: AuditAction, target: object, **fields: Any
) -> Row:
    """`fields`: before, after and details."""
    return {
        "team_name": team.name,
        "happened_at": at,
        "actor_kind": AuditActorKind.PERSON,
        "actor_id": str(by.pk),
        "actor_name": str(by),
        "source": AuditSource.PORTAL,
        "action": action,
        "target": str(target),
        "before": {},
        "after": {},
        "details": {},
        **fields,
    }


def iter_budget_rows(team: Team) -> Iterator[Row]:
    changes = BudgetChange.objects.filter(budget__team=team)
    for change in changes.select_related("changed_by", "budget__member"):
        budget = change.budget
        yield build_row(
            team,
            change.changed_by,
            change.happened_at,
            AuditAction.BUDGET_ADD,
            budget.pk,
            after=limits_by_name((change.soft_after, change.hard_after)),
            details={"member": str(budget.member or ""), "period": budget.period},
        )


def iter_top_up_rows(team: Team) -> Iterator[Row]:
    changes = TopUpChange.objects.filter(account__tenant=team.tenant_id)
    for change in changes.select_related("member"):
        yield build_row(
            team,
            change.member,
            change.requested_at,
            AuditAction.TOP_UP_CHANGE,
            change.account_id,
            before=change.seen,
            after=change.wanted,
            details={"change": str(change.pk)},
        )


def iter_charge_rows(team: Team) -> Iterator[Row]:
    charges = Charge.objects.filter(tenant=team.tenant_id, approval_request=None)
    for charge in charges.select_related("member"):
        after = {"operation": charge.operation, "hold": str(charge.hold)}
        after["job"] = str(charge.job_id or "")
        action = AuditAction.CHARGE_CREATE
        yield build_row(team, charge.member, charge.created_at, action, charge.pk, after=after)


def iter_approval_rows(team: Team) -> Iterator[Row]:
    """The requests, and their decisions."""
    approvals = ApprovalRequest.objects.filter(team=team)
    for approval in approvals.select_related("member", "decided_by", "charge"):
        charge, hold = str(approval.charge_id), str(approval.charge.hold)
        yield build_row(
            team,
            approval.member,
            approval.requested_at,
            AuditAction.APPROVAL_REQUEST_CREATE,
            approval.pk,
            after={"charge": charge, "hold": hold, "note": approval.note},
        )
        if approval.decided_by is not None and approval.decided_at is not None:
            yield build_row(
                team,
                approval.decided_by,
                approval.decided_at,
                DECISION_ACTIONS[ApprovalDecision(approval.decision)],
                approval.pk,
                before={"decision": ""},
                after={"decision": approval.decision, "answer": approval.answer},
                details={"member": str(approval.member), "charge": charge, "hold": hold},
            )
