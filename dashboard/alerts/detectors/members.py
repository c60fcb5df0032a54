"""What is found about members: budgets past their alert or at their cap, asks and their answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import reverse

from dashboard.alerts.detectors.finding import AlertFinding, age_period, page_url_or_empty
from dashboard.models import (
    AlertRule,
    ApprovalDecision,
    ApprovalRequest,
    Budget,
    BudgetPeriod,
    Team,
)
from dashboard.shared.budget_usage import BudgetUsage, load_budget_usages
from dashboard.shared.formatting import credits

PERIOD_PHRASES = {
    BudgetPeriod.DAY: "today",
    BudgetPeriod.WEEK: "this week",
    BudgetPeriod.MONTH: "this month",
}
ANSWER_MAX_AGE = timedelta(days=1)  # an answer that old is none any more
AT_LIMIT_TEXT = "Nothing more is sent before {until} without a word of the treasurer or the owner."


def find_budgets_past_limit(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    rows = Budget.objects.filter(team=team, active=True).select_related("member")
    for standing in load_budget_usages(team, rows, now):
        limit = highest_reached_limit(standing)
        for rule in rules if limit is not None else ():
            yield budget_finding(rule, standing, limit or Decimal(0))


def highest_reached_limit(standing: BudgetUsage) -> Decimal | None:
    """The higher of the limits that it is at or past."""
    limits = (standing.budget.hard, standing.budget.soft)
    return next((it for it in limits if it is not None and standing.used >= it), None)


def budget_finding(rule: AlertRule, standing: BudgetUsage, limit: Decimal) -> AlertFinding:
    budget = standing.budget
    who = budget.member.first_name if budget.member else "The team"
    when = PERIOD_PHRASES[BudgetPeriod(budget.period)]
    capped = limit == budget.hard
    of = f" of {credits(budget.hard)}" if budget.hard is not None else ""
    held = f" and {credits(standing.held)} held" if standing.held else ""
    taken = f"{credits(standing.spent)} spent{held}."
    return AlertFinding(
        rule,
        str(budget.pk),
        f"{who} is at the limit of {credits(limit)} cr {when}"
        if capped
        else f"{who} is past {credits(limit)}{of} cr {when}",
        f"{taken} {AT_LIMIT_TEXT.format(until=standing.resets_at_label)}"
        if capped
        else f"{taken} It begins anew {standing.resets_at_label}.",
        "failed" if capped else "late",
        page_url_or_empty("budgets"),
        f"{standing.bounds.start.astimezone(standing.zone):%Y-%m-%d}",
        limit,
        budget.member_id,
        for_money=True,
    )


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
