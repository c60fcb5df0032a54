"""Approval requests that wait for a decision, and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.urls import reverse

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    age_period,
    page_url_or_empty,
)
from dashboard.models import (
    AlertKind,
    AlertRule,
    ApprovalDecision,
    ApprovalRequest,
    Team,
)
from dashboard.shared.formatting import credits

ANSWER_MAX_AGE = timedelta(days=1)  # an answer that old is none any more


def find_approval_requests(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = ApprovalRequest.objects.filter(team=team).select_related(
        "member", "decided_by", "charge__job"
    )
    for rule in rules:
        for ask in rows.filter(decision=""):
            yield pending_request_finding(rule, ask, now)
        answered_since = rows.filter(decided_at__gte=now - ANSWER_MAX_AGE)
        for ask in answered_since.exclude(decision=ApprovalDecision.WITHDRAWN):
            yield decided_request_finding(rule, ask)


def pending_request_finding(rule: AlertRule, ask: ApprovalRequest, now: datetime) -> AlertFinding:
    note = f" “{ask.note}”" if ask.note else ""
    return AlertFinding(
        rule,
        str(ask.pk),
        f"{ask.member.first_name} asks for {credits(ask.charge.hold)} cr",
        f"For {request_title(ask)}.{note}"[:400],
        "waiting",
        page_url_or_empty("budgets"),
        age_period(ask.asked_at, now),
        for_money=True,
    )


def decided_request_finding(rule: AlertRule, ask: ApprovalRequest) -> AlertFinding:
    """For the asker alone."""
    who = ask.decided_by.first_name if ask.decided_by else "Somebody"
    amount, title = f"{credits(ask.charge.hold)} cr", request_title(ask)
    state, head, text = {
        ApprovalDecision.APPROVED: ("good", f"{who} approved {amount}", f"{title} is sent."),
        ApprovalDecision.DECLINED: (
            "failed",
            f"{who} declined {amount}",
            f"{title}: “{ask.answer}”",
        ),
    }.get(
        ApprovalDecision(ask.decision),
        ("paused", f"{amount} were not sent", f"{title}: {ask.answer}"),
    )
    where = (
        reverse("video", args=[ask.charge.job_id])
        if ask.charge.job_id
        else page_url_or_empty("budgets")
    )
    return AlertFinding(
        rule, str(ask.pk), head, text[:400], state, where, "answer", member=ask.member_id
    )


def request_title(ask: ApprovalRequest) -> str:
    return f"“{ask.charge.job.title}”" if ask.charge.job else "A request"


SPEC = AlertKindSpec(
    kind=AlertKind.APPROVAL_REQUEST,
    sentence="Somebody asks for more, or is answered",
    find=find_approval_requests,
    open_subjects=lambda: ApprovalRequest.objects.pending().values_list("pk", flat=True),
)
