"""Pending approval requests, as approvers and requesters see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, Membership, VideoLabel
from dashboard.shared.access import has_permission
from dashboard.shared.approvals import approval_page_url
from dashboard.shared.budget_impact import budget_left_text
from dashboard.shared.budget_usage import (
    BudgetUsage,
    budget_usages_version,
    exceeded_by,
    load_budget_usages,
    most_constrained,
)
from dashboard.shared.formatting import credits
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.price_question import HOLD_LABEL, AmountRow
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import WITHOUT_SECOND_PERSON, rule_sentence
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi.models import Account, Charge
from proxyapi.operations import get_operation
from proxyapi.refusals import CreditCheck

ZERO_CREDITS = Decimal(0)
OWN_REQUEST_UNMET = "You made this request: another treasurer or owner has to approve it"


@dataclass(frozen=True, slots=True)
class ApprovalRequestRow:
    """One approval request; `mine` is True if the reader made it and may withdraw it. `page_url` is
    that of the request, `url` that of its video."""

    id: UUID
    who: str
    amount: Decimal
    line: str
    note: str
    requested_at: datetime
    url: str
    page_url: str
    comments_label: str
    mine: bool
    may_decide: bool


@dataclass(frozen=True, slots=True)
class ApprovalConfirmation:
    """The dialog before an approval.

    `rows` name all budgets that the request exceeds, else the most constrained one.
    `required_limit` is the lowest limit that the request fits under, if only one budget blocks it.
    `drawn` is the `budget_usages_version` of the blocking budgets; `rule` the sentence of the
    second-person rule, if that blocks it.
    """

    id: UUID
    who: str
    title: str
    amount: Decimal
    note: str
    rows: tuple[AmountRow, ...]
    unmet: tuple[str, ...]  # why it cannot be sent now; no button then
    credit_check: CreditCheck
    required_limit: int | None
    drawn: str
    rule: str
    page_url: str


def build_approval_request_rows(reader: Membership) -> tuple[ApprovalRequestRow, ...]:
    """Oldest first; only their own for readers who may not decide. At most six queries."""
    approvals = select_request_relations(reader.team.approval_requests.pending())
    approvals = approvals.annotate(comment_count=Count("comments"))
    may_decide = has_permission(reader, Permission.MANAGE_MONEY)
    if not may_decide:
        approvals = approvals.filter(member=reader.user_id)
    rows = list(approvals)
    usages = load_hard_budget_usage(reader) if rows else []
    labels = load_job_labels(rows)
    return tuple(
        build_approval_request_row(
            approval,
            reader,
            most_constrained(filter_binding_usage(usages, approval, labels)),
            may_decide=may_decide and approval.member_id != reader.user_id,
        )
        for approval in rows
    )


def select_request_relations(approvals: QuerySet[ApprovalRequest]) -> QuerySet[ApprovalRequest]:
    return approvals.select_related("member", "charge__job")


def load_hard_budget_usage(reader: Membership) -> list[BudgetUsage]:
    """The usage of all active budgets of the team with a hard limit."""
    budgets = Budget.objects.filter(team=reader.team, active=True).exclude(hard=None)
    budgets = budgets.select_related("label")
    return load_budget_usages(reader.team, budgets, timezone.now())


def load_job_labels(approvals: Sequence[ApprovalRequest]) -> dict[UUID, set[UUID]]:
    """The ids of the labels of the requested videos, by job. One query, none without a video."""
    jobs = [approval.charge.job_id for approval in approvals if approval.charge.job_id]
    labels: dict[UUID, set[UUID]] = {}
    rows = VideoLabel.objects.filter(job__in=jobs).values_list("job", "label") if jobs else ()
    for job, label in rows:
        labels.setdefault(job, set()).add(label)
    return labels


def filter_binding_usage(
    usages: Iterable[BudgetUsage], approval: ApprovalRequest, labels: Mapping[UUID, set[UUID]]
) -> list[BudgetUsage]:
    """The usages of the budgets that the request has to fit: as `Budget.objects.applying_to`."""
    of_video = labels.get(approval.charge.job_id, set()) if approval.charge.job_id else set()
    return [
        usage
        for usage in usages
        if (
            usage.budget.label_id in of_video
            if usage.budget.label_id
            else usage.budget.member_id in (None, approval.member_id)
        )
    ]


def build_approval_request_row(
    approval: Any, reader: Membership, usage: BudgetUsage | None, *, may_decide: bool
) -> ApprovalRequestRow:
    """`approval` has the number of its comments."""
    mine = approval.member_id == reader.user_id
    count = approval.comment_count
    return ApprovalRequestRow(
        id=approval.pk,
        who="You" if mine else approval.member.first_name,
        amount=approval.charge.hold,
        line=" ".join(
            (
                f"To {requested_action_text(approval.charge)}.",
                *blocking_sentences(approval, usage, mine=mine),
            )
        ),
        note=approval.note,
        requested_at=approval.requested_at,
        url=job_page_url(approval.charge.job),
        page_url=approval_page_url(approval),
        comments_label=f"{count} comment{'' if count == 1 else 's'}" if count else "Comment",
        mine=mine,
        may_decide=may_decide,
    )


def blocking_sentences(
    approval: ApprovalRequest, usage: BudgetUsage | None, *, mine: bool
) -> Iterator[str]:
    """Which rule blocks the request: the second-person rule as it was then, the budget, or both."""
    above, hold = approval.second_person_above, approval.charge.hold
    if above is not None:
        yield upper_first(rule_sentence(above))
    if usage is not None and (above is None or not usage.has_room_for(hold)):
        yield budget_left_sentence(usage, mine=mine)


def upper_first(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def requested_action_text(charge: Charge) -> str:
    """ "render “Who owns the Moon?”", or "search for ideas on “lakes”"."""
    action = get_operation(charge.operation).request_text
    subject = charge.job.title if charge.job else charge.body.get("keyword")
    return f"{action} “{subject}”" if subject else action


def budget_left_sentence(usage: BudgetUsage, *, mine: bool) -> str:
    """ "61 of 2,500 are left until 1 Dec"; the reader of a colleague’s request is not "you"."""
    text = budget_left_text(usage)
    if not mine:
        text = text.replace("of your", "of the").replace("your budget", "their budget")
    return f"{upper_first(text.replace(' left ', ' are left '))}."


def build_approval_confirmation(
    approval: ApprovalRequest, reader: Membership
) -> ApprovalConfirmation:
    """Build the dialog that the approver reads. At most five queries."""
    requester = Membership.objects.filter(team=approval.team_id, user=approval.member_id).first()
    usages = (
        filter_binding_usage(
            load_hard_budget_usage(requester), approval, load_job_labels([approval])
        )
        if requester
        else []
    )
    hold, account = approval.charge.hold, Account.objects.get(pk=approval.charge.account_id)
    check = account.check_credits(hold)
    exceeded, constrained = exceeded_by(usages, hold), most_constrained(usages)
    above = approval.second_person_above
    shown = exceeded or ([constrained] if constrained and above is None else [])
    is_own = approval.member_id == reader.user_id
    unmet = [OWN_REQUEST_UNMET if is_own else "", credit_shortfall_text(check)]
    return ApprovalConfirmation(
        id=approval.pk,
        who=approval.member.first_name,
        title=requested_action_text(approval.charge),
        amount=hold,
        note=approval.note,
        rows=tuple(amount_rows(approval, check.available, shown)),
        unmet=tuple(filter(None, unmet)),
        credit_check=check,
        required_limit=ceil(exceeded[0].used + hold) if len(exceeded) == 1 else None,
        drawn=budget_usages_version(exceeded),
        rule="" if above is None else upper_first(rule_sentence(above)),
        page_url=approval_page_url(approval),
    )


def amount_rows(
    approval: ApprovalRequest, available: Decimal, shown: Iterable[BudgetUsage]
) -> Iterator[AmountRow]:
    if approval.charge.quote is not None:
        yield AmountRow(
            "Estimate", approval.charge.quote, "about", "As it was when it was requested"
        )
    yield AmountRow(HOLD_LABEL, approval.charge.hold, "held")
    yield AmountRow("Free to spend on the account", available)
    if (above := approval.second_person_above) is not None:
        over = max(approval.charge.hold - above, ZERO_CREDITS)
        yield AmountRow(WITHOUT_SECOND_PERSON, above)
        yield AmountRow("Above that", over, is_total=True)
    for usage in shown:
        whose = f"{approval.member.first_name}’s" if usage.budget.member_id else usage.whose
        hard, remaining = credits(usage.hard), usage.remaining or ZERO_CREDITS
        label = f"Left of {whose} {hard} until {usage.resets_at_label}"
        if usage.allows_no_charges:
            label = f"Left: {whose} budget allows no charges"
        yield AmountRow(label, remaining)
        exceeded = max(approval.charge.hold - remaining, ZERO_CREDITS)
        yield AmountRow("Above the budget", exceeded, is_total=True)
