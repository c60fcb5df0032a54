"""Approval requests that wait for a decision: of one charge, of several items of an agent, of a
batch. The requester is notified of the decision by `alerts.member_notifications`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    age_period,
)
from dashboard.models import (
    AgentApproval,
    AlertKind,
    AlertRule,
    ApprovalRequest,
    Batch,
    Team,
)
from dashboard.shared.approvals import approval_page_url, request_title
from dashboard.shared.formatting import credits


def find_approval_requests(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = ApprovalRequest.objects.filter(team=team).select_related("member", "charge__job")
    agents = AgentApproval.objects.waiting().filter(key__tenant=team.tenant_id)
    batches = Batch.objects.waiting_for_approval().filter(team=team).select_related("member")
    for rule in rules:
        for approval in rows.filter(decision=""):
            yield pending_request_finding(rule, approval, now)
        for asked in agents.select_related("key"):
            yield agent_request_finding(rule, asked, now)
        for batch in batches:
            yield batch_request_finding(rule, batch, now)


def pending_request_finding(
    rule: AlertRule, approval: ApprovalRequest, now: datetime
) -> AlertFinding:
    note = f" “{approval.note}”" if approval.note else ""
    return AlertFinding(
        rule,
        str(approval.pk),
        f"{approval.member.first_name} requests {credits(approval.charge.hold)} cr",
        f"For {request_title(approval)}.{note}"[:400],
        "waiting",
        approval_page_url(approval),
        age_period(approval.requested_at, now),
        for_money=True,
    )


def agent_request_finding(rule: AlertRule, asked: AgentApproval, now: datetime) -> AlertFinding:
    reason = f" “{asked.reason}”" if asked.reason else ""
    items = "one item" if asked.item_count == 1 else f"{asked.item_count} items"
    return AlertFinding(
        rule,
        str(asked.pk),
        f"{asked.key.name} requests up to {credits(asked.credits)} cr",
        f"An agent asks once for {items}.{reason}"[:400],
        "waiting",
        reverse("agent-approval", args=[asked.pk]),
        age_period(asked.requested_at, now),
        for_money=True,
    )


def batch_request_finding(rule: AlertRule, batch: Batch, now: datetime) -> AlertFinding:
    """One that was changed and is asked for again is another request."""
    asked_at = batch.approval_requested_at or now
    return AlertFinding(
        rule,
        str(batch.pk),
        f"{batch.member.first_name} asks to start a batch",
        f"“{batch.name}”. Its page has the rows and what they cost."[:400],
        "waiting",
        reverse("batch", args=[batch.pk]),
        f"{asked_at:%d %b %H:%M} {age_period(asked_at, now)}".strip(),
        for_money=True,
    )


def open_requests() -> Iterator[UUID]:
    yield from ApprovalRequest.objects.pending().values_list("pk", flat=True)
    yield from AgentApproval.objects.waiting().values_list("pk", flat=True)
    yield from Batch.objects.waiting_for_approval().values_list("pk", flat=True)


SPEC = AlertKindSpec(
    kind=AlertKind.APPROVAL_REQUEST,
    sentence="An approval is requested",
    find=find_approval_requests,
    open_subjects=open_requests,
)
