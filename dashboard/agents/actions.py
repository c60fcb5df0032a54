"""Connect an agent and raise its credits. It is paused and ended like an API key."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from dashboard.agents.scopes import grantable_scopes
from dashboard.api_keys.actions import lock_key, publish_change
from dashboard.api_keys.agent_approvals import audit_values
from dashboard.api_keys.agent_tokens import end_tokens
from dashboard.models import (
    AgentApproval,
    AgentDecision,
    AuditAction,
    AuditActorKind,
    Membership,
    Team,
)
from dashboard.shared.access import KeyRight, sees_api_keys
from dashboard.shared.audit_log import AuditActor, record_audit_event
from dashboard.shared.key_limits import sum_credits
from proxyapi.models import ApiKey, KeyScope
from proxyapi.models.account import amount_text
from proxyapi.refusals import Refusal, StaleData

NO_RIGHT = "Your role cannot connect agents."
SCOPE_REFUSED = "Your role cannot give this right: {scopes}."
RAISED_MEANWHILE = (
    "Its allowance was changed meanwhile; it is {credits} cr now. Nothing was added. Press "
    "again to add to that."
)
DECIDED_MEANWHILE = "This request was decided or withdrawn meanwhile. Nothing was changed."
HAS_EXPIRED = "This agent has expired. Connect it again from its program."


@transaction.atomic
def connect_agent(
    *,
    by: Membership,
    client_id: str,
    name: str,
    scopes: Collection[KeyScope],
    credits: Decimal,
    expires_at: datetime,
    charge_limit: Decimal | None,
    job_label: str,
) -> ApiKey:
    """Give the OAuth client these rights in the name of the member and return its agent: the active
    one of this member and team with new settings, else a new one. `credits` may be spent from now
    on; what it spent before is added to its allowance. Raises `Refusal`."""
    check_scopes(by, scopes)
    # Two presses at once must not connect two agents.
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    active = ApiKey.objects.active(timezone.now()).select_for_update(no_key=True)
    agent = active.filter(
        tenant=by.team.tenant_id, owner=by.user_id, client_id=client_id
    ).first() or ApiKey(
        tenant=by.team.tenant,
        owner=by.user,
        client_id=client_id,
        digest=secrets.token_hex(32),  # of no value: the client has tokens
        last_four="",
    )
    used: tuple[Decimal, ...] = (
        () if agent._state.adding else sum_credits(by.team, [agent]).get(agent.pk, ())
    )
    agent.name, agent.scopes = name[:60], sorted(scopes)
    agent.allowance, agent.charge_limit = sum(used[:2], credits), charge_limit
    agent.expires_at, agent.job_label, agent.paused_at = expires_at, job_label, None
    agent.save()
    after = {"name": agent.name, "client": client_id, "scopes": agent.scopes}
    after |= {"credits": amount_text(credits), "until": expires_at}
    after |= {"most_for_one": amount_text(charge_limit)} if charge_limit is not None else {}
    record_audit_event(by, AuditAction.AGENT_CONNECT, agent.pk, after=after)
    publish_change(agent)
    return agent


def check_scopes(by: Membership, scopes: Collection[KeyScope]) -> None:
    if not sees_api_keys(by):
        raise Refusal(NO_RIGHT)
    if refused := sorted(set(scopes) - set(grantable_scopes(by))):
        raise Refusal(SCOPE_REFUSED.format(scopes=", ".join(refused)), field="scopes")


@transaction.atomic
def raise_credits(*, by: Membership, agent: ApiKey, amount: Decimal, drawn: str) -> ApiKey:
    """Let the agent spend so many credits more. Raises `StaleData` if its allowance is no longer
    `drawn`, so that two presses add once."""
    agent = lock_key(by, agent, KeyRight.EDIT)
    before = agent.allowance or Decimal(0)
    if agent.expires_at is not None and agent.expires_at <= timezone.now():
        raise Refusal(HAS_EXPIRED)
    if amount_text(before) != drawn:
        raise StaleData(RAISED_MEANWHILE.format(credits=amount_text(before)))
    agent.allowance = before + amount
    agent.save(update_fields=["allowance"])
    record_audit_event(
        *(by, AuditAction.AGENT_CREDITS, agent.pk),
        before={"allowance": amount_text(before)},
        after={"allowance": amount_text(agent.allowance)},
    )
    publish_change(agent)
    return agent


@transaction.atomic
def decide_approval(
    *, by: Membership, approval: AgentApproval, decision: AgentDecision
) -> AgentApproval:
    """Approve or decline several items that an agent asks for, or end what was approved. Raises
    `StaleData` if that was decided meanwhile."""
    key = lock_key(by, approval.key, KeyRight.EDIT, KeyRight.LIMIT)
    approval, now = AgentApproval.objects.select_related("key").get(pk=approval.pk), timezone.now()
    is_due = approval.is_in_force if decision == AgentDecision.ENDED else not approval.decision
    if not is_due:
        raise StaleData(DECIDED_MEANWHILE)
    if decision == AgentDecision.APPROVED:
        if key.expires_at is not None and key.expires_at <= now:
            raise Refusal(HAS_EXPIRED)
        approval.expires_at = approval_end(approval, now)
    approval.decision, approval.decided_by, approval.decided_at = decision, by.user, now
    approval.save(update_fields=["decision", "decided_by", "decided_at", "expires_at"])
    record_audit_event(by, AuditAction.AGENT_APPROVAL, key.pk, after=audit_values(approval))
    publish_change(key)
    return approval


def approval_end(approval: AgentApproval, now: datetime) -> datetime:
    """When it ends if it is approved now: no later than its agent."""
    end = now + timedelta(hours=approval.hours)
    return min(end, approval.key.expires_at or end)


def end_tokens_of_replay(agent: ApiKey, what: str) -> None:
    """A code or a refresh token of the agent came twice, so somebody else may have it."""
    count = end_tokens(agent)
    team = Team.objects.get(tenant=agent.tenant_id)
    actor = AuditActor(team, AuditActorKind.API_KEY, str(agent.pk), agent.name)
    record_audit_event(actor, AuditAction.AGENT_TOKEN_REPLAY, agent.pk, what=what, tokens=count)
