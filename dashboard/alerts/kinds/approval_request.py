"""Approval requests that wait for a decision, and the decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.urls import reverse

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    age_period,
)
from dashboard.models import (
    AlertKind,
    AlertRule,
    ApprovalDecision,
    ApprovalRequest,
    Team,
)
from dashboard.shared.formatting import credits
from dashboard.shared.job_pages import job_page_url

ANSWER_MAX_AGE = timedelta(days=1)  # older decisions are not reported


def find_approval_requests(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = ApprovalRequest.objects.filter(team=team).select_related(
        "member", "decided_by", "charge__job"
    )
    for rule in rules:
        for approval in rows.filter(decision=""):
            yield pending_request_finding(rule, approval, now)
        answered_since = rows.filter(decided_at__gte=now - ANSWER_MAX_AGE)
        for approval in answered_since.exclude(decision=ApprovalDecision.WITHDRAWN):
            yield decided_request_finding(rule, approval)


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
        reverse("budgets"),
        age_period(approval.requested_at, now),
        for_money=True,
    )


def decided_request_finding(rule: AlertRule, approval: ApprovalRequest) -> AlertFinding:
    """A finding that only the requester sees."""
    decider = approval.decided_by.first_name if approval.decided_by else "Someone"
    amount, title = f"{credits(approval.charge.hold)} cr", request_title(approval)
    state, head, text = {
        ApprovalDecision.APPROVED: ("good", f"{decider} approved {amount}", f"{title} is sent."),
        ApprovalDecision.DECLINED: (
            "failed",
            f"{decider} declined {amount}",
            f"{title}: “{approval.answer}”",
        ),
    }.get(
        ApprovalDecision(approval.decision),
        ("paused", f"{amount} were not sent", f"{title}: {approval.answer}"),
    )
    url = job_page_url(approval.charge.job) or reverse("budgets")
    return AlertFinding(
        rule, str(approval.pk), head, text[:400], state, url, "answer", member=approval.member_id
    )


def request_title(approval: ApprovalRequest) -> str:
    return f"“{approval.charge.job.title}”" if approval.charge.job else "A request"


SPEC = AlertKindSpec(
    kind=AlertKind.APPROVAL_REQUEST,
    sentence="A budget approval is requested or decided",
    find=find_approval_requests,
    open_subjects=lambda: ApprovalRequest.objects.pending().values_list("pk", flat=True),
)
