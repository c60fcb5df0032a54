"""The history of budgets, of decisions on requests of raises and of the second-person rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    AuditEvent,
    BudgetChange,
    BudgetPeriod,
    Membership,
)
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission

MAX_BUDGET_HISTORY_ROWS = 12
AUDITED_ACTIONS = (
    AuditAction.SECOND_PERSON_CHANGE,
    AuditAction.BUDGET_RAISE,
    AuditAction.BUDGET_RAISE_END,
)
LISTED_DECISIONS = (ApprovalDecision.APPROVED, ApprovalDecision.DECLINED, ApprovalDecision.STALE)
PERIOD_PHRASES = {
    BudgetPeriod.DAY: "daily",
    BudgetPeriod.WEEK: "weekly",
    BudgetPeriod.MONTH: "monthly",
}


@dataclass(frozen=True, slots=True)
class BudgetHistoryRow:
    """`state` selects the icon; `text` continues the sentence that starts with the name `who`."""

    state: str
    who: str
    text: str
    quote: str
    happened_at: datetime


def build_budget_history(reader: Membership) -> tuple[BudgetHistoryRow, ...]:
    """The newest changes and decisions, for readers who may manage money; three queries."""
    if not has_permission(reader, Permission.MANAGE_MONEY):
        return ()
    changes = BudgetChange.objects.filter(budget__team=reader.team)
    changes = changes.select_related("budget__member", "budget__label", "changed_by").order_by(
        "-happened_at", "-pk"
    )
    decided = ApprovalRequest.objects.filter(team=reader.team, decision__in=LISTED_DECISIONS)
    decided = decided.select_related("charge", "member", "decided_by").order_by("-decided_at")
    rows = [build_budget_change_row(record) for record in changes[:MAX_BUDGET_HISTORY_ROWS]]
    rows += [build_decision_row(record) for record in decided[:MAX_BUDGET_HISTORY_ROWS]]
    rows += load_audited_history(reader)
    rows.sort(key=lambda row: row.happened_at, reverse=True)
    return tuple(rows[:MAX_BUDGET_HISTORY_ROWS])


def build_budget_change_row(change: BudgetChange) -> BudgetHistoryRow:
    """ "set Priya Raman’s monthly budget: 2,500 cr at most and an alert at 2,000." """
    whose = change.budget.subject
    period = PERIOD_PHRASES[BudgetPeriod(change.budget.period)]
    before = limits_text(change.soft_before, change.hard_before)
    after = limits_text(change.soft_after, change.hard_after)
    if change.is_addition:
        state, text = "completed", f"set {whose}’s {period} budget: {after}."
    elif change.is_end:
        state, text = "paused", f"removed {whose}’s {period} budget ({before})."
    else:
        text = f"changed {whose}’s {period} budget: {after} (before: {before})."
        state = "completed"
    return BudgetHistoryRow(state, change.changed_by.first_name, text, "", change.happened_at)


def limits_text(soft: Decimal | None, hard: Decimal | None) -> str:
    if hard == 0:
        return "no charges allowed"
    templates_and_limits = (("{} cr at most", hard), ("an alert at {}", soft))
    parts = [
        template.format(credits(limit))
        for template, limit in templates_and_limits
        if limit is not None
    ]
    return " and ".join(parts)


def build_decision_row(request: ApprovalRequest) -> BudgetHistoryRow:
    who, hold = request.member.first_name, credits(request.charge.hold)
    quote = ""
    match request.decision:
        case ApprovalDecision.APPROVED:
            state, text = "completed", f"approved {hold} cr for {who}."
        case ApprovalDecision.DECLINED:
            state, text, quote = "failed", f"declined {hold} cr for {who}:", request.answer
        case _:
            text = f"could not send {hold} cr for {who}: it had changed."
            state = "paused"
    if request.decided_by is None or request.decided_at is None:
        raise ValueError(f"request {request.pk} is not decided")  # a constraint excludes it too
    return BudgetHistoryRow(state, request.decided_by.first_name, text, quote, request.decided_at)


def load_audited_history(reader: Membership) -> Iterator[BudgetHistoryRow]:
    """What only the audit log keeps: changes of the second-person rule, raises for a time and their
    ends. One query."""
    events = AuditEvent.objects.filter(team_id=reader.team_id, action__in=AUDITED_ACTIONS)
    for event in events.order_by("-position")[:MAX_BUDGET_HISTORY_ROWS]:
        is_rule = event.action == AuditAction.SECOND_PERSON_CHANGE
        state, text = describe_rule_change(event) if is_rule else describe_raise(event)
        who = event.actor_name.partition(" ")[0]
        yield BudgetHistoryRow(state, who, text, "", event.happened_at)


def describe_rule_change(event: AuditEvent) -> tuple[str, str]:
    before, after = rule_amount_text(event.before), rule_amount_text(event.after)
    if not after:
        return "paused", f"removed the second-person rule ({before})."
    return (
        "completed",
        f"required a second person {after}{f' (before: {before})' if before else ''}.",
    )


def describe_raise(event: AuditEvent) -> tuple[str, str]:
    details, after = event.details, event.after
    label = f"the label {details['label']}" if details["label"] else ""
    whose = f"{label or details['member'] or 'the whole team'}’s"
    budget = f"{whose} {PERIOD_PHRASES[BudgetPeriod(details['period'])]} budget"
    limit = f"{credits(after['hard'])} cr"
    if event.action == AuditAction.BUDGET_RAISE:
        return "completed", f"raised {budget} to {limit} until {after['raise_until']}."
    return "paused", f"set {budget} back to {limit}."


def rule_amount_text(details: dict[str, str]) -> str:
    """ "above 100 cr", or "" where there was no rule."""
    return f"above {credits(Decimal(details['above']))} cr" if "above" in details else ""
