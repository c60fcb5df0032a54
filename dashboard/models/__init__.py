"""People and teams, one noun a file."""

from __future__ import annotations

from dashboard.models.alert import AlertEvent, AlertKind, AlertRule
from dashboard.models.approval_request import ApprovalDecision, ApprovalRequest
from dashboard.models.audit_action import AuditAction
from dashboard.models.audit_event import (
    AuditActorKind,
    AuditAppendOnlyError,
    AuditChainHead,
    AuditEvent,
)
from dashboard.models.budget import Budget, BudgetPeriod
from dashboard.models.budget_change import BudgetChange
from dashboard.models.delivery import AlertWebhook, Delivery, DeliveryChannel, DeliveryState
from dashboard.models.membership import Membership, Role
from dashboard.models.sign_in_event import SignInEvent, SignInOutcome
from dashboard.models.team import Team
from dashboard.models.user import User
