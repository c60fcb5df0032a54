"""Budgets, the top-up setting and the alerts of the demo's past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple
from uuid import uuid4

from django.db.models import F
from django.utils import timezone

from dashboard.alerts.declaration import AlertFinding
from dashboard.alerts.evaluate import create_alert
from dashboard.alerts.kinds.approval_request import request_finding
from dashboard.alerts.kinds.budget_limit import budget_finding
from dashboard.alerts.kinds.low_balance import low_balance_finding
from dashboard.alerts.kinds.top_up_failed import failed_top_up_finding
from dashboard.alerts.member_notifications import build_answer_notification
from dashboard.demo.history.account import OPENING_CREDITS, TOP_UP_UNITS
from dashboard.models import (
    AlertEvent,
    AlertKind,
    AlertRule,
    ApprovalRequest,
    Budget,
    BudgetChange,
    BudgetPeriod,
    Delivery,
    DeliveryChannel,
    DeliveryState,
    Membership,
    Team,
)
from dashboard.shared.budget_usage import BudgetUsage, period_bounds
from dashboard.shared.waiting_requests import describe_charge_request
from proxyapi.models import (
    Account,
    AutoTopUp,
    Charge,
    LedgerEntry,
    Token,
    TopUpChange,
    TopUpChangeState,
    TopUpType,
)
from proxyapi.top_up.setting import TopUpSetting

LOW_BALANCES = {Decimal(1000): Decimal(300), Decimal(200): Decimal(100)}
MAIL_DELAY = timedelta(seconds=4)


class PastAlert(NamedTuple):
    at: datetime
    finding: AlertFinding


class BudgetLimits(NamedTuple):
    member: str  # first name; empty for the team
    period: BudgetPeriod
    soft: Decimal | None
    hard: Decimal | None


BUDGETS = (
    BudgetLimits("", BudgetPeriod.MONTH, Decimal(1600), None),
    BudgetLimits("Priya", BudgetPeriod.MONTH, Decimal(1000), Decimal(1500)),
    BudgetLimits("Luca", BudgetPeriod.DAY, None, Decimal(150)),
)


def create_budgets(team: Team, members: dict[str, Membership], at: datetime) -> list[Budget]:
    """The budgets that the treasurer added at that time."""
    budgets = []
    for member, period, soft, hard in BUDGETS:
        user = members[member].user if member else None
        budget = Budget.objects.create(team=team, member=user, period=period, soft=soft, hard=hard)
        BudgetChange.objects.create(
            budget=budget,
            changed_by=members["Thea"].user,
            soft_after=soft,
            hard_after=hard,
            happened_at=at,
        )
        budgets.append(budget)
    Budget.objects.filter(team=team).update(created_at=at)
    return budgets


def lower_balance_rules(team: Team) -> None:
    """The treasurer's thresholds: the default ones are for larger plans."""
    for before, after in LOW_BALANCES.items():
        rules = AlertRule.objects.filter(team=team, kind=AlertKind.BALANCE, threshold=before)
        rules.update(threshold=after)


def store_top_up_change(account: Account, token: Token, member: Membership, at: datetime) -> None:
    """The change that switched automatic top-up on, as the portal sent it at that time."""
    wanted = TopUpSetting(True, TopUpType.UNITS, None, TOP_UP_UNITS)
    TopUpChange.objects.create(
        account=account,
        token=token,
        member=member.user,
        nonce=uuid4(),
        seen=TopUpSetting().to_dict(),
        wanted=wanted.to_dict(),
        state=TopUpChangeState.SAVED,
        requested_at=at,
        due_at=at,
        sent_at=at,
        settled_at=at,
    )
    AutoTopUp.objects.filter(account=account).update(left_enabled=True, left_at=at)


def create_alerts(team: Team, alerts: Iterable[PastAlert]) -> None:
    """Create the alerts with their mails, delivered at that time."""
    for at, finding in alerts:
        for delivery in create_alert(team, finding):
            delivered = {"created_at": at, "due_at": at, "delivered_at": at + MAIL_DELAY}
            Delivery.objects.filter(pk=delivery.pk).update(
                state=DeliveryState.DELIVERED, attempts=1, **delivered
            )
        found = AlertEvent.objects.filter(rule=finding.rule, subject=finding.subject)
        found.filter(period=finding.period, threshold=finding.effective_threshold).update(
            happened_at=at
        )


def find_past_alerts(
    team: Team, account: Account, budgets: Iterable[Budget], failed_at: datetime | None
) -> Iterator[PastAlert]:
    """What the rules would have found at those times, from the rows of the past."""
    rules = list(AlertRule.objects.filter(team=team))
    by_kind = {kind: [rule for rule in rules if rule.kind == kind] for kind in AlertKind}
    with timezone.override(team.tenant.zone):
        yield from find_low_balances(account, by_kind[AlertKind.BALANCE])
        for budget in budgets:
            yield from find_spent_budgets(team, budget, by_kind[AlertKind.BUDGET][0])
        yield from find_requests(team, by_kind[AlertKind.APPROVAL_REQUEST][0])
        if failed_at is not None:
            row = copy(account.top_up)
            row.consecutive_failures = 1
            rule, period = by_kind[AlertKind.TOP_UP_FAILED][0], f"{failed_at:%Y-%m-%d}"
            yield PastAlert(failed_at, failed_top_up_finding(rule, row, period))


def find_low_balances(account: Account, rules: Iterable[AlertRule]) -> Iterator[PastAlert]:
    """The entries that brought the balance below a threshold."""
    balance, period, seen = Decimal(OPENING_CREDITS), "no credit yet", copy(account)
    entries = LedgerEntry.objects.filter(account=account).order_by("position")
    for position, amount, at in entries.values_list("position", "amount", "happened_at"):
        before, balance = balance, balance + amount
        if amount > 0:
            period = f"since row {position}"
        for rule in rules:
            if balance < rule.threshold <= before:
                seen.balance, seen.balance_as_of = balance, at
                yield PastAlert(at, low_balance_finding(rule, seen, Decimal(0), period))


def find_spent_budgets(team: Team, budget: Budget, rule: AlertRule) -> Iterator[PastAlert]:
    """The charges that brought the spend of a period to the budget's alert limit."""
    if budget.soft is None:
        return
    zone, period = team.tenant.zone, BudgetPeriod(budget.period)
    charges = Charge.objects.filter(tenant=team.tenant_id, cost__gt=0, sent_at__isnull=False)
    if budget.member_id:
        charges = charges.filter(member=budget.member_id)
    rows = charges.order_by("sent_at").annotate(at=F("sent_at")).values_list("at", "cost")
    for bounds, of_period in groupby(rows, lambda row: period_bounds(period, zone, row[0])):
        spent = Decimal(0)
        for at, cost in of_period:
            before, spent = spent, spent + (cost or 0)
            if before < budget.soft <= spent:
                usage = BudgetUsage(budget, bounds, zone, spent, Decimal(0))
                yield PastAlert(at, budget_finding(rule, usage, budget.soft))


def find_requests(team: Team, rule: AlertRule) -> Iterator[PastAlert]:
    approvals = ApprovalRequest.objects.filter(team=team)
    for approval in approvals.select_related("member", "decided_by", "charge__job"):
        at = approval.requested_at
        yield PastAlert(at, request_finding(rule, describe_charge_request(approval), at))


def create_answer_notifications(team: Team) -> None:
    """Notify the members of the past of what was decided, with a mail delivered at that time."""
    decided = ApprovalRequest.objects.filter(team=team).exclude(decision="")
    for approval in decided.select_related("member", "decided_by", "charge__job"):
        note, at = build_answer_notification(approval), approval.decided_at or timezone.now()
        event = AlertEvent.objects.create(
            team=team,
            member=approval.member,
            notification=note.kind,
            subject=note.subject,
            period=note.period,
            state=note.state,
            title=note.title,
            text=note.text[:400],
            url=note.url,
            happened_at=at,
        )
        Delivery.objects.create(
            event=event,
            channel=DeliveryChannel.EMAIL,
            address=approval.member.email,
            state=DeliveryState.DELIVERED,
            attempts=1,
            created_at=at,
            due_at=at,
            delivered_at=at + MAIL_DELAY,
        )
