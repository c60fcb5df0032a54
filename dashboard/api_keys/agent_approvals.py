"""An agent asks once for several items up to an amount; see `dashboard.models.agent_approval`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.models import (
    AgentApproval,
    AgentDecision,
    AuditAction,
    AuditActorKind,
    Team,
)
from dashboard.shared.audit_log import AuditActor, record_audit_event
from dashboard.shared.text_validation import clean_line
from proxyapi.events import EventType, publish_event
from proxyapi.models import ApiKey
from proxyapi.models.account import amount_text


@transaction.atomic
def request_items(
    key: ApiKey, *, items: int, credits: Decimal, hours: int, reason: str
) -> AgentApproval:
    """Ask a person; a key has one request at a time. Who asks for the same again gets the one that
    waits or is in force; another one takes the place of what waits. Raises `Refusal`."""
    reason = clean_line(reason, max_length=300, field="reason")
    ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk)
    rows = AgentApproval.objects.filter(key=key)
    found = rows.with_usage().open(timezone.now()).order_by("-requested_at")
    wish = {"item_count": items, "credits": credits, "hours": hours}
    for approval in found.filter(**wish):
        if approval.items_left and approval.credits_left:
            return approval
    for approval in found.filter(decision=""):
        close(approval)
    made = AgentApproval.objects.create(key=key, reason=reason, **wish)
    record(made, AuditAction.AGENT_APPROVAL_REQUEST)
    return load_approval(key, made.pk) or made


def load_approval(key: ApiKey, id: UUID) -> AgentApproval | None:
    return AgentApproval.objects.with_usage().filter(key=key, pk=id).first()


@transaction.atomic
def withdraw(key: ApiKey, id: UUID) -> None:
    """Withdraw what waits, and end what is in force: the agent needs no more."""
    ApiKey.objects.select_for_update(no_key=True).get(pk=key.pk)
    for approval in AgentApproval.objects.open(timezone.now()).filter(key=key, pk=id):
        close(approval)


def close(approval: AgentApproval) -> None:
    approval.decision, approval.decided_at = AgentDecision.WITHDRAWN, timezone.now()
    approval.save(update_fields=["decision", "decided_at"])
    record(approval, AuditAction.AGENT_APPROVAL)


def record(approval: AgentApproval, action: AuditAction) -> None:
    """Write what the agent did to the audit log, and have open pages read it."""
    key = approval.key
    team = Team.objects.get(tenant=key.tenant_id)
    actor = AuditActor(team, AuditActorKind.API_KEY, str(key.pk), key.name)
    record_audit_event(actor, action, key.pk, after=audit_values(approval))
    publish_event(key.tenant_id, EventType.TOKEN, key.pk)


def audit_values(approval: AgentApproval) -> dict[str, Any]:
    values = {"items": approval.item_count, "credits": amount_text(approval.credits)}
    return {**values, "hours": approval.hours, "decision": approval.decision}


def describe_approval(approval: AgentApproval) -> dict[str, Any]:
    """What the agent learns of it."""
    is_waiting = not approval.decision
    path = reverse("agent-approval", args=[approval.pk])
    return {
        "approval_id": approval.pk,
        "state": "waiting" if is_waiting else approval.decision,
        "is_in_force": approval.is_in_force,
        "items": approval.item_count,
        "items_left": approval.items_left,
        "credits": approval.credits,
        "credits_left": approval.credits_left,
        "expires_at": approval.expires_at,
        "url": f"{settings.PORTAL_URL}{path}" if is_waiting else "",
    }
