"""Approval requests that wait for a decision: of one charge, of several items of an agent, of a
batch. The requester is notified of the decision by `alerts.member_notifications`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    age_period,
)
from dashboard.models import AgentApproval, AlertKind, AlertRule, ApprovalRequest, Batch, Team
from dashboard.shared.waiting_requests import WaitingRequest, load_waiting_requests


def find_approval_requests(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    waiting = list(load_waiting_requests(team))
    for rule in rules:
        for row in waiting:
            yield request_finding(rule, row, now)


def request_finding(rule: AlertRule, row: WaitingRequest, now: datetime) -> AlertFinding:
    period = f"{row.version} {age_period(row.asked_at, now)}".strip()
    return AlertFinding(
        *(rule, str(row.id), row.title, row.text[:400], "waiting", row.url, period),
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
