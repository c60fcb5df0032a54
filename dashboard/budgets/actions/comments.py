"""Comments on an approval request: of its requester and of those who may decide it."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from dashboard.models import (
    MAX_APPROVAL_COMMENT_CHARS,
    ApprovalComment,
    ApprovalRequest,
    AuditAction,
    Membership,
    NotificationKind,
    User,
)
from dashboard.shared.approvals import approval_page_url, lock_pending_request, request_title
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.notices import notify_users
from dashboard.shared.notifications import Notification, notify_person
from dashboard.shared.text_validation import INVISIBLE_CHARACTER, validate_lines
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal

COMMENT_REQUIRED = "Enter a comment."
COMMENT_TOO_LONG = f"A comment has at most {MAX_APPROVAL_COMMENT_CHARS:,} characters."
MAX_COMMENTS_PER_REQUEST = 100
TOO_MANY_COMMENTS = (
    f"A request takes {MAX_COMMENTS_PER_REQUEST} comments. Decide or withdraw it, or talk directly."
)
COMMENT_TITLE = "{who} commented on the request for {title}"


@transaction.atomic
def add_approval_comment(*, by: Membership, approval: ApprovalRequest, text: str) -> None:
    """Add a comment and notify the other side. Raises `StaleData` if the request is decided. A form
    that is sent twice adds one comment."""
    text = clean_comment(text)
    approval = lock_pending_request(approval)
    last = approval.comments.order_by("-written_at", "-pk").first()
    if last is not None and (last.author_id, last.text) == (by.user_id, text):
        return
    if approval.comments.count() >= MAX_COMMENTS_PER_REQUEST:
        raise Refusal(TOO_MANY_COMMENTS, field="text")
    comment = ApprovalComment.objects.create(approval=approval, author=by.user, text=text)
    publish_event(by.team.tenant_id, EventType.BUDGET, approval.pk)
    if by.user_id == approval.member_id:
        notify_approvers(by, approval, comment)
    else:
        notify_requester(by, approval, comment)
    record_audit_event(by, AuditAction.APPROVAL_REQUEST_COMMENT, approval.pk, comment=comment.pk)


def clean_comment(text: str) -> str:
    """Return the text with plain line breaks. Raises `Refusal`."""
    text = "\n".join(text.splitlines()).strip()
    if not text:
        raise Refusal(COMMENT_REQUIRED, field="text")
    if len(text) > MAX_APPROVAL_COMMENT_CHARS:
        raise Refusal(COMMENT_TOO_LONG, field="text")
    try:
        validate_lines(text)
    except ValidationError:
        raise Refusal(INVISIBLE_CHARACTER, field="text") from None
    return text


def notify_approvers(by: Membership, approval: ApprovalRequest, comment: ApprovalComment) -> None:
    """In the portal: those who commented, or all who may decide it if none did."""
    managers: dict[int, User] = {
        other.user_id: other.user
        for other in load_money_managers(by.team)
        if other.user_id != by.user_id
    }
    authors = set(approval.comments.values_list("author", flat=True)) & managers.keys()
    notify_users(
        by.team,
        [managers[pk] for pk in sorted(authors or managers)],
        title=comment_title(by, approval),
        text=comment.text,
        url=approval_page_url(approval),
        by_email=False,
    )


def notify_requester(by: Membership, approval: ApprovalRequest, comment: ApprovalComment) -> None:
    note = Notification(
        kind=NotificationKind.REQUEST_ANSWERED,
        subject=str(approval.pk),
        period=f"comment {comment.pk.hex[:16]}",
        state="info",
        title=comment_title(by, approval),
        text=comment.text,
        url=approval_page_url(approval),
    )
    notify_person(by.team, approval.member, note)


def comment_title(by: Membership, approval: ApprovalRequest) -> str:
    return COMMENT_TITLE.format(who=by.user.first_name, title=request_title(approval))
