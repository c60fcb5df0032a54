"""People and teams, one noun a file."""

from __future__ import annotations

from dashboard.models.audit_event import AuditEvent
from dashboard.models.membership import Membership, Role
from dashboard.models.team import Team
from dashboard.models.user import User

__all__ = ["AuditEvent", "Membership", "Role", "Team", "User"]
