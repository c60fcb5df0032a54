"""People and teams, one model file per noun."""

from __future__ import annotations

from dashboard.models.agent_approval import AgentApproval, AgentApprovalItem, AgentDecision
from dashboard.models.alert import (
    ALERTS,
    AlertEvent,
    AlertKind,
    AlertRule,
    AlertWebhook,
    Delivery,
    DeliveryChannel,
    DeliveryState,
    WebhookFormat,
)
from dashboard.models.approval_request import (
    MAX_APPROVAL_COMMENT_CHARS,
    ApprovalComment,
    ApprovalDecision,
    ApprovalRequest,
)
from dashboard.models.audit_event import (
    AuditAction,
    AuditActorKind,
    AuditAppendOnlyError,
    AuditChainCheck,
    AuditChainHead,
    AuditEvent,
    AuditSource,
)
from dashboard.models.batch import (
    MAX_AT_ONCE,
    Batch,
    BatchRow,
    BatchRowState,
    BatchState,
    RowChoice,
)
from dashboard.models.budget import Budget, BudgetChange, BudgetPeriod, NewMemberBudget
from dashboard.models.character_photo import CharacterPhoto
from dashboard.models.installation_setup import SETUP_ROW_ID, InstallationSetup
from dashboard.models.invitation import (
    INVITATION_LIFETIME,
    MAX_INVITATION_MESSAGE_CHARS,
    Invitation,
    InvitationState,
    hash_invitation_key,
)
from dashboard.models.key_rotation import KeyRotation, KeyRotationState
from dashboard.models.label import Label, VideoLabel
from dashboard.models.membership import Membership, Role, Team
from dashboard.models.notification import NotificationKind, NotificationPreference
from dashboard.models.outside_source import (
    MAX_SOURCE_NAME_CHARS,
    MAX_SOURCE_TEXT_CHARS,
    MAX_SOURCES_PER_ACCOUNT,
    OutsideSource,
    annotate_outside_source,
)
from dashboard.models.ownership_transfer import (
    OWNERSHIP_TRANSFER_LIFETIME,
    OwnershipTransfer,
    TransferState,
)
from dashboard.models.planned_render import PLAN_LIFETIME, PlannedRender, settings_digest
from dashboard.models.preset import MAX_PRESET_NAME_CHARS, BrandKit, DraftOrigin, Preset
from dashboard.models.second_factor_secret import SecondFactorSecret
from dashboard.models.series import Series
from dashboard.models.sign_in_event import SignInEvent, SignInOutcome
from dashboard.models.single_sign_on import (
    GROUP_ROLES,
    MAX_ROLE_GROUPS,
    MAX_SUBJECT_CHARS,
    SignInDomain,
    SingleSignOn,
    SingleSignOnGroup,
    SingleSignOnLink,
    SingleSignOnSecret,
)
from dashboard.models.team_security import (
    MAX_SESSION_HOURS,
    MAX_SESSION_IDLE_MINUTES,
    MIN_SESSION_IDLE_MINUTES,
    TeamSecurity,
)
from dashboard.models.user import User
from dashboard.models.video_version import VersionDifference, VersionGroup, VideoVersion
from dashboard.models.voice_consent import VoiceConsent
