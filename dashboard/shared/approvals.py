"""Lock a pending approval request for its decision, and close it with its audit row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalDecision, ApprovalRequest, AuditAction, Membership
from dashboard.shared import enqueue
from dashboard.shared.audit_log import AuditActor, record_audit_event
from proxyapi.charges import withdraw_draft_charge
from proxyapi.events import EventType, publish_event
from proxyapi.models import ApiEvent, ApiEventType, ChargeState
from proxyapi.models.account import amount_text
from proxyapi.refusals import StaleData

ALREADY_DECIDED = "This request is already decided. Nothing was changed."
DECISION_ACTIONS = {
    ApprovalDecision.APPROVED: AuditAction.APPROVAL_REQUEST_APPROVE,
    ApprovalDecision.DECLINED: AuditAction.APPROVAL_REQUEST_DECLINE,
    ApprovalDecision.STALE: AuditAction.APPROVAL_REQUEST_EXPIRE,
    ApprovalDecision.WITHDRAWN: AuditAction.APPROVAL_REQUEST_WITHDRAW,
}


DECISION_EVENTS = {
    ApprovalDecision.APPROVED: ApiEventType.APPROVAL_APPROVED,
    ApprovalDecision.DECLINED: ApiEventType.APPROVAL_DECLINED,
    ApprovalDecision.STALE: ApiEventType.APPROVAL_EXPIRED,
    ApprovalDecision.WITHDRAWN: ApiEventType.APPROVAL_CANCELLED,
}
# By the state of the charge that was approved.
OUTCOME_EVENTS = {
    ChargeState.UNKNOWN: ApiEventType.APPROVAL_SENT,
    ChargeState.CONFIRMED: ApiEventType.APPROVAL_SENT,
    ChargeState.MATCHED: ApiEventType.APPROVAL_SENT,
    ChargeState.REFUSED: ApiEventType.APPROVAL_FAILED,
}


def approval_page_url(approval: ApprovalRequest) -> str:
    return reverse("approval-request", args=[approval.pk])


def request_title(approval: ApprovalRequest) -> str:
    """The video's title in quotes, else the search words, else "a request"."""
    charge = approval.charge
    subject = charge.job.title if charge.job else charge.body.get("keyword")
    return f"“{subject}”" if subject else "a request"


def lock_pending_request(approval: ApprovalRequest) -> ApprovalRequest:
    """Read the request again under a lock. Raises `StaleData` if it was decided."""
    row = (
        ApprovalRequest.objects.select_for_update(of=("self",))
        .select_related("charge__job", "member", "team__tenant")
        .get(pk=approval.pk)
    )
    if not row.is_pending:
        raise StaleData(ALREADY_DECIDED)
    return row


def close_request(
    by: Membership,
    approval: ApprovalRequest,
    decision: ApprovalDecision,
    words: str,
    *,
    recorded_as: AuditActor | None = None,
) -> ApprovalRequest:
    """End the draft charge as refused with a reason, and save the decision. The audit log names
    `recorded_as` instead of `by` if it is given."""
    reason = (
        words
        if decision != ApprovalDecision.DECLINED
        else f"{by.user.first_name} declined: “{words}”"
    )
    withdraw_draft_charge(approval.charge, reason)
    return save_request_decision(by, approval, decision, words, recorded_as=recorded_as)


def save_request_decision(
    by: Membership,
    approval: ApprovalRequest,
    decision: ApprovalDecision,
    words: str,
    *,
    exceeded: Sequence[Mapping[str, str]] = (),
    recorded_as: AuditActor | None = None,
) -> ApprovalRequest:
    approval.decision, approval.answer = decision, words
    approval.decided_by, approval.decided_at = by.user, timezone.now()
    approval.save(update_fields=["decision", "answer", "decided_by", "decided_at"])
    charge = approval.charge
    record_audit_event(
        recorded_as or by,
        DECISION_ACTIONS[decision],
        approval.pk,
        before={"decision": ""},
        after={"decision": decision, "answer": words},
        member=str(approval.member),
        charge=str(charge.pk),
        hold=str(charge.hold),
        exceeded=exceeded,
    )
    record_approval_event(approval, DECISION_EVENTS[decision])
    publish_event(charge.tenant_id, EventType.BUDGET, approval.pk)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    if charge.job_id:
        publish_event(charge.tenant_id, EventType.JOB, charge.job_id)
    return approval


def record_approval_event(approval: ApprovalRequest, event_type: ApiEventType) -> None:
    """Write an event of the request, in the caller's transaction."""
    charge = approval.charge
    ApiEvent.objects.record(
        event_type,
        approval.pk,
        {
            "approval": approval.pk,
            "charge": charge.pk,
            "operation": charge.operation,
            "price": amount_text(charge.price),
            "url": f"{settings.PORTAL_URL}{approval_page_url(approval)}",
        },
        tenant_id=charge.tenant_id,
        member_id=approval.member_id,
        api_key_id=charge.api_key_id,
    )


def record_outcome(event: ApiEvent, **_: object) -> None:
    """Receiver of `event_recorded`: what became of a charge that was approved."""
    if event.event_type not in (ApiEventType.CHARGE_UNKNOWN, ApiEventType.CHARGE_SETTLED):
        return
    outcome = OUTCOME_EVENTS.get(event.data["state"])
    approved = ApprovalRequest.objects.filter(decision=ApprovalDecision.APPROVED)
    approval = approved.filter(charge=event.data["charge"]).select_related("charge").first()
    if approval is not None and outcome is not None:
        record_approval_event(approval, outcome)
