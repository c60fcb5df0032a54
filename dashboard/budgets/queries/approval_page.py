"""The page of one approval request: what it costs, what blocks it, the decision, the comments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from dashboard.budgets.queries.approval_requests import (
    ApprovalConfirmation,
    blocking_sentences,
    build_approval_confirmation,
    requested_action_text,
)
from dashboard.models import ApprovalDecision, ApprovalRequest, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.price_question import AmountRow
from dashboard.shared.roles import Permission

DECISION_PILLS = {
    "": ("waiting", "Waiting"),
    ApprovalDecision.APPROVED: ("completed", "Approved"),
    ApprovalDecision.DECLINED: ("failed", "Declined"),
    ApprovalDecision.STALE: ("paused", "Outdated"),
    ApprovalDecision.WITHDRAWN: ("paused", "Withdrawn"),
}


@dataclass(frozen=True, slots=True)
class ApprovalCommentRow:
    id: UUID
    who: str
    initials: str
    text: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """`confirmation` is that of the dialog to approve, whose amounts the page shows too."""

    id: UUID
    title: str
    heading: str
    blocked_by: tuple[str, ...]
    confirmation: ApprovalConfirmation
    state: str
    state_label: str
    requested_at: datetime
    decided_at: datetime | None
    decided_by: str
    answer: str
    job_url: str
    comments: tuple[ApprovalCommentRow, ...]
    is_pending: bool
    may_decide: bool
    may_withdraw: bool

    @property
    def rows(self) -> tuple[AmountRow, ...]:
        """The budgets of a decided request are not those it was decided under."""
        return self.confirmation.rows if self.is_pending else self.confirmation.rows[:2]


def build_approval_page(approval: ApprovalRequest, reader: Membership) -> ApprovalPage:
    """At most seven queries."""
    mine = approval.member_id == reader.user_id
    pending = approval.is_pending
    state, state_label = DECISION_PILLS[approval.decision]
    decider = approval.decided_by
    return ApprovalPage(
        id=approval.pk,
        title=requested_action_text(approval.charge),
        heading="Your request" if mine else f"Request of {approval.member.first_name}",
        blocked_by=tuple(blocking_sentences(approval, None, mine=mine)),
        confirmation=build_approval_confirmation(approval, reader),
        state=state,
        state_label=state_label,
        requested_at=approval.requested_at,
        decided_at=approval.decided_at,
        decided_by=decider.first_name if decider else "",
        answer=approval.answer,
        job_url=job_page_url(approval.charge.job),
        comments=load_approval_comments(approval),
        is_pending=pending,
        may_decide=pending and not mine and has_permission(reader, Permission.MANAGE_MONEY),
        may_withdraw=pending and mine,
    )


def load_approval_comments(approval: ApprovalRequest) -> tuple[ApprovalCommentRow, ...]:
    return tuple(
        ApprovalCommentRow(
            id=comment.pk,
            who=str(comment.author),
            initials=comment.author.initials,
            text=comment.text,
            written_at=comment.written_at,
        )
        for comment in approval.comments.select_related("author")
    )
