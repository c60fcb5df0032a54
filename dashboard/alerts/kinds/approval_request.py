"""Approval requests that wait for a decision. The requester is notified of the decision by
`alerts.member_notifications`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    age_period,
)
from dashboard.models import (
    AlertKind,
    AlertRule,
    ApprovalRequest,
    Team,
)
from dashboard.shared.approvals import approval_page_url, request_title
from dashboard.shared.formatting import credits


def find_approval_requests(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = ApprovalRequest.objects.filter(team=team).select_related("member", "charge__job")
    for rule in rules:
        for approval in rows.filter(decision=""):
            yield pending_request_finding(rule, approval, now)


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


SPEC = AlertKindSpec(
    kind=AlertKind.APPROVAL_REQUEST,
    sentence="An approval is requested",
    find=find_approval_requests,
    open_subjects=lambda: ApprovalRequest.objects.pending().values_list("pk", flat=True),
)
