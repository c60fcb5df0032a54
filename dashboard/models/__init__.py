"""People and teams, one noun a file."""

from __future__ import annotations

from dashboard.models.alert import AlertEvent, AlertRule, Watch
from dashboard.models.ask import Ask, Decision
from dashboard.models.audit_event import AuditEvent
from dashboard.models.budget import Budget, Period
from dashboard.models.delivery import Channel, Delivery, DeliveryState, Webhook
from dashboard.models.membership import Membership, Role
from dashboard.models.sign_in_event import SignInEvent, SignInOutcome
from dashboard.models.team import Team
from dashboard.models.user import User

__all__ = [
    "AlertEvent",
    "AlertRule",
    "Ask",
    "AuditEvent",
    "Budget",
    "Channel",
    "Decision",
    "Delivery",
    "DeliveryState",
    "Membership",
    "Period",
    "Role",
    "SignInEvent",
    "SignInOutcome",
    "Team",
    "User",
    "Watch",
    "Webhook",
]
