"""Audit rows, written in the transaction of the change: no change without its row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from dashboard.models import AuditAction, AuditActorKind, AuditEvent, Membership, Team

EMPTY: Mapping[str, object] = {}
held_back: ContextVar[list[dict[str, Any]] | None] = ContextVar("audit_rows", default=None)


@dataclass(frozen=True, slots=True)
class AuditActor:
    """The actor of an audit row: a member, an API key, a command or the portal itself."""

    team: Team
    kind: AuditActorKind
    id: str
    name: str


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


@contextmanager
def append_audit_rows_last() -> Iterator[None]:
    """Append the rows that are recorded within the block at its end.

    Code that locks other rows after its first audit row then does not hold the team's chain
    meanwhile. Use it inside the transaction.
    """
    rows: list[dict[str, Any]] = []
    context_token = held_back.set(rows)
    try:
        yield
    finally:
        held_back.reset(context_token)
    for row in rows:
        AuditEvent.objects.append(**row)


def person_actor(by: Membership) -> AuditActor:
    return AuditActor(by.team, AuditActorKind.PERSON, str(by.user_id), str(by.user))


def system_actor(team: Team, name: str) -> AuditActor:
    """`name` names the part of the portal that acts, such as the command that was run."""
    return AuditActor(team, AuditActorKind.SYSTEM, "", name)
