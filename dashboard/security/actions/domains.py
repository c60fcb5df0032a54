"""The e-mail domains that a team accepts. Members and invitations with other domains stay."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.security.actions.row import lock_team_security, save_team_security
from dashboard.shared.audit_log import append_audit_rows_last
from proxyapi.refusals import Refusal

MAX_ALLOWED_DOMAINS = 20
TOO_MANY_DOMAINS = f"At most {MAX_ALLOWED_DOMAINS} domains can be listed. Remove one first."


@transaction.atomic
@append_audit_rows_last()
def add_allowed_domain(*, by: Membership, domain: str) -> bool:
    """Add a domain in its stored form; return False if it is listed. Raises PermissionDenied, and
    `Refusal` for one too many."""
    row = lock_team_security(by)
    if domain in row.allowed_domains:
        return False
    if len(row.allowed_domains) >= MAX_ALLOWED_DOMAINS:
        raise Refusal(TOO_MANY_DOMAINS, field="domain")
    row.allowed_domains = sorted([*row.allowed_domains, domain])
    return save_team_security(by, row, AuditAction.TEAM_DOMAINS)


@transaction.atomic
@append_audit_rows_last()
def remove_allowed_domain(*, by: Membership, domain: str) -> bool:
    """Remove a domain; without the last one any address is accepted. Return False if it is not
    listed."""
    row = lock_team_security(by)
    row.allowed_domains = [listed for listed in row.allowed_domains if listed != domain]
    return save_team_security(by, row, AuditAction.TEAM_DOMAINS)
