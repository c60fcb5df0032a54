"""Verify a team's chain of audit entries, every 30 minutes and when a person asks for it."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.maintenance.audit_chain import KnownHead, verify_team_chain
from dashboard.models import AuditAction, AuditChainCheck, AuditEvent, Membership, Team
from dashboard.shared import enqueue
from dashboard.shared.access import require_visible
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event

log = logging.getLogger(__name__)
REPEAT_AFTER = timedelta(minutes=15)


def request_chain_check(*, by: Membership) -> None:
    """Have the chain verified in the background; a second press does nothing while it runs."""
    require_visible(by, Permission.OPERATE)
    now = timezone.now()
    with transaction.atomic():
        check, _ = AuditChainCheck.objects.select_for_update().get_or_create(pk=by.team_id)
        if check.requested_at is not None and now - check.requested_at < REPEAT_AFTER:
            return
        check.requested_at = now
        check.save(update_fields=["requested_at"])
        record_audit_event(by, AuditAction.AUDIT_VERIFY, "audit log")
        publish_event(by.team.tenant_id, EventType.AUDIT, by.team_id)
        enqueue.enqueue_after_commit(enqueue.VERIFY_AUDIT_TASK, by.team_id)


def run_chain_check(team_id: UUID) -> AuditChainCheck | None:
    """Verify the whole chain and keep the result; None if the team has no entry yet.

    Also compares the entry at the last verified position with the hash kept then: a chain that was
    built anew from there on is found, too.
    """
    team = Team.objects.filter(pk=team_id).first()
    if team is None:
        return None
    known = AuditChainCheck.objects.filter(pk=team_id).first() or AuditChainCheck(pk=team_id)
    report = verify_team_chain(team_id)
    broken, problem = report.broken_position, report.problem
    if not problem and known.verified_position and not has_known_hash(known):
        broken = known.verified_position
        problem = f"Entry {broken:,} does not match the hash that was kept at the last good check."
    fields: dict[str, object] = {"checked_at": timezone.now(), "requested_at": None}
    fields |= {"broken_position": broken if problem else None, "problem": problem[:300]}
    if not problem:
        fields |= {"verified_at": fields["checked_at"], "verified_position": report.rows}
        fields["verified_hash"] = report.row_hash
        # Outside the database: what `verify_audit --anchor` compares with.
        log.info("%s", KnownHead(team_id, report.rows, report.row_hash))
    check, _ = AuditChainCheck.objects.update_or_create(pk=team_id, defaults=fields)
    publish_event(team.tenant_id, EventType.AUDIT, team_id)
    return check


def has_known_hash(known: AuditChainCheck) -> bool:
    entry = AuditEvent.objects.filter(team_id=known.pk, position=known.verified_position)
    return entry.filter(row_hash=known.verified_hash).exists()
