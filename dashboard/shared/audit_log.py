"""Audit rows, written in the transaction of the change: no change without its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dashboard.models import (
    AuditAction,
    AuditActorKind,
    AuditEvent,
    AuditSource,
    Membership,
    Team,
)
from proxyapi.events import EventType, publish_event

EMPTY: Mapping[str, object] = {}
COMMAND_PREFIX = "manage.py "
MONEY_AUDIT_ACTIONS = frozenset(
    {
        AuditAction.ACCOUNT_PRICE,
        AuditAction.AGENT_APPROVAL,
        AuditAction.AGENT_APPROVAL_REQUEST,
        AuditAction.AGENT_CREDITS,
        AuditAction.AGENT_PAUSE,
        AuditAction.AGENT_RESUME,
        AuditAction.ALERT_RULE_ADD,
        AuditAction.ALERT_RULE_CHANGE,
        AuditAction.API_KEY_LIMITS,
        AuditAction.API_KEY_PAUSE,
        AuditAction.API_KEY_RESUME,
        AuditAction.APPROVAL_REQUEST_APPROVE,
        AuditAction.APPROVAL_REQUEST_COMMENT,
        AuditAction.APPROVAL_REQUEST_CREATE,
        AuditAction.APPROVAL_REQUEST_DECLINE,
        AuditAction.APPROVAL_REQUEST_EXPIRE,
        AuditAction.APPROVAL_REQUEST_WITHDRAW,
        AuditAction.BATCH_APPROVE,
        AuditAction.BATCH_REQUEST,
        AuditAction.BATCH_CANCEL,
        AuditAction.BATCH_PAUSE,
        AuditAction.BATCH_RESUME,
        AuditAction.BATCH_RETRY,
        AuditAction.BATCH_START,
        AuditAction.BUDGET_ADD,
        AuditAction.BUDGET_CHANGE,
        AuditAction.BUDGET_END,
        AuditAction.BUDGET_NEW_MEMBERS,
        AuditAction.BUDGET_RAISE,
        AuditAction.BUDGET_RAISE_END,
        AuditAction.CHARGE_CREATE,
        AuditAction.CHARGE_MATCH,
        AuditAction.CHARGE_RECHECK,
        AuditAction.CHARGE_UNMATCH,
        AuditAction.CHARGE_WRITE_OFF,
        AuditAction.CHARGES_RESUME,
        AuditAction.CHARGES_STOP,
        AuditAction.CREDIT_PACK_ADD,
        AuditAction.CREDIT_PACK_REMOVE,
        AuditAction.LEDGER_ACCEPT,
        AuditAction.LEDGER_ACCEPT_ALL,
        AuditAction.LEDGER_EXPORT,
        AuditAction.LEDGER_REBASE,
        AuditAction.OUTSIDE_SOURCE_ADD,
        AuditAction.OUTSIDE_SOURCE_CHANGE,
        AuditAction.OUTSIDE_SOURCE_REMOVE,
        AuditAction.MEMBER_CHARGES_PAUSE,
        AuditAction.MEMBER_CHARGES_RESUME,
        AuditAction.RENDER_PLAN_CREATE,
        AuditAction.RENDER_PLAN_END,
        AuditAction.REPORT_RECIPIENTS,
        AuditAction.SECOND_PERSON_CHANGE,
        AuditAction.TOP_UP_CHANGE,
    }
)
# The client address of the current request; None outside a request.
client_ip_of_request: ContextVar[str | None] = ContextVar("client_ip", default=None)
held_back: ContextVar[list[dict[str, Any]] | None] = ContextVar("audit_rows", default=None)


@dataclass(frozen=True, slots=True)
class AuditActor:
    """The actor of an audit row: a member, an API key, a command or the portal itself.

    `client_ip` is the address that the person used, if it is not that of the current request.
    """

    team: Team
    kind: AuditActorKind
    id: str
    name: str
    client_ip: str = ""


def record_audit_event(
    by: Membership | AuditActor,
    action: AuditAction,
    target: object,
    *,
    before: Mapping[str, object] = EMPTY,
    after: Mapping[str, object] = EMPTY,
    **details: object,
) -> None:
    """Append a row to the team's audit chain.

    The chain is the last lock that a transaction takes: call this after all other locks, or within
    `append_audit_rows_last`.
    """
    actor = person_actor(by) if isinstance(by, Membership) else by
    row: dict[str, Any] = {
        "team_id": actor.team.pk,
        "team_name": actor.team.name,
        "actor_kind": actor.kind,
        "actor_id": actor.id,
        "actor_name": actor.name,
        "source": find_source(actor),
        "client_ip": actor.client_ip or client_ip_of_request.get() or "",
        "action": action,
        "target": str(target)[:100],
        "before": before,
        "after": after,
        "details": details,
    }
    if (rows := held_back.get()) is None:
        AuditEvent.objects.append(**row)
    else:
        rows.append(row)
    publish_event(actor.team.tenant_id, EventType.AUDIT, actor.team.pk)


def find_source(actor: AuditActor) -> AuditSource:
    """Return where the actor acted: in the portal if there is a request, or was one."""
    if actor.client_ip or client_ip_of_request.get() is not None:
        return AuditSource.PORTAL
    is_command = actor.name.startswith(COMMAND_PREFIX)
    return AuditSource.COMMAND if is_command else AuditSource.SYSTEM


@contextmanager
def collect_audit_rows() -> Iterator[list[dict[str, Any]]]:
    """Collect the rows that are recorded within the block, which appends them itself."""
    rows: list[dict[str, Any]] = []
    context_token = held_back.set(rows)
    try:
        yield rows
    finally:
        held_back.reset(context_token)


@contextmanager
def append_audit_rows_last() -> Iterator[None]:
    """Append the rows that are recorded within the block at its end.

    Code that locks other rows after its first audit row then does not hold the team's chain
    meanwhile. Use it inside the transaction.
    """
    with collect_audit_rows() as rows:
        yield
    if (outer := held_back.get()) is not None:
        outer += rows
        return
    for row in rows:
        AuditEvent.objects.append(**row)


def person_actor(by: Membership) -> AuditActor:
    return AuditActor(by.team, AuditActorKind.PERSON, str(by.user_id), str(by.user))


def system_actor(team: Team, name: str) -> AuditActor:
    """`name` names the part of the portal that acts, such as the command that was run."""
    return AuditActor(team, AuditActorKind.SYSTEM, "", name)
