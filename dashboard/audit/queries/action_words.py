"""What an entry says in words: each action's sentence and the group that the filter offers."""

from __future__ import annotations

from dashboard.models import AuditAction as A
from dashboard.shared.audit_log import MONEY_AUDIT_ACTIONS

ACTION_TITLES: dict[str, str] = {
    A.ACCESS_REFUSE: "Attempt refused",
    A.ALERT_RESEND: "Sent an alert again",
    A.ALERT_RULE_ADD: "Added an alert rule",
    A.ALERT_RULE_CHANGE: "Changed an alert rule",
    A.ALERT_TEST: "Sent a test alert",
    A.AUDIT_EXPORT: "Exported the audit log",
    A.AUDIT_VERIFY: "Had the audit log verified",
    A.APPROVAL_REQUEST_COMMENT: "Commented on a request",
    A.APPROVAL_REQUEST_CREATE: "Requested approval",
    A.APPROVAL_REQUEST_APPROVE: "Approved a request",
    A.APPROVAL_REQUEST_DECLINE: "Declined a request",
    A.APPROVAL_REQUEST_EXPIRE: "Request expired",
    A.APPROVAL_REQUEST_WITHDRAW: "Withdrew a request",
    A.BRAND_KIT_CHANGE: "Changed the brand kit",
    A.BUDGET_ADD: "Added a budget",
    A.BUDGET_CHANGE: "Changed a budget",
    A.BUDGET_END: "Ended a budget",
    A.CHARACTER_CREATE: "Created a character",
    A.CHARACTER_HIDE: "Hid a character",
    A.CHARACTER_PHOTO: "Changed the photo of a character",
    A.CHARACTER_SAVE: "Changed a character",
    A.CHARACTER_UNHIDE: "Restored a character",
    A.CHARGE_CREATE: "Confirmed a charge",
    A.CHARGE_MATCH: "Matched a charge with the ledger",
    A.CHARGE_RECHECK: "Checked a charge again",
    A.CHARGE_UNMATCH: "Removed the match of a charge with a debit",
    A.CHARGE_WRITE_OFF: "Wrote off a charge",
    A.CHARGES_RESUME: "Allowed charges again",
    A.CHARGES_STOP: "Stopped all charges",
    A.CONFIRMATION_REFUSE: "Confirmation refused",
    A.CREDIT_PACK_ADD: "Added a credit pack",
    A.CREDIT_PACK_REMOVE: "Removed a credit pack",
    A.DRAFT_DELETE: "Deleted a draft",
    A.DRAFT_RESTORE: "Restored a draft",
    A.DRAFT_SAVE: "Changed a draft",
    A.DRAFT_START: "Created a draft",
    A.EMAIL_CHANGE: "Changed the e-mail address",
    A.EMAIL_REQUEST: "Entered a new e-mail address",
    A.EMAIL_WITHDRAW: "Cancelled the change of the e-mail address",
    A.INVITATION_ACCEPT: "Accepted an invitation",
    A.INVITATION_CREATE: "Invited somebody",
    A.INVITATION_RESEND: "Sent an invitation again",
    A.INVITATION_RESTORE: "Restored an invitation",
    A.INVITATION_REVOKE: "Revoked an invitation",
    A.KEY_ROTATION_END: "Ended a rotation of the encryption key",
    A.KEY_ROTATION_START: "Started a rotation of the encryption key",
    A.LABEL_ADD: "Added a label",
    A.LABEL_CHANGE: "Renamed a label",
    A.LABEL_REMOVE: "Removed a label",
    A.LEDGER_ACCEPT: "Accepted a changed ledger row",
    A.LEDGER_ACCEPT_ALL: "Accepted all changed ledger rows",
    A.LEDGER_EXPORT: "Exported the ledger",
    A.LEDGER_REBASE: "Reset the opening balance",
    A.MEMBER_DEACTIVATE: "Deactivated a member",
    A.MEMBER_HAND_OVER: "Handed over work",
    A.MEMBER_LEAVE: "Left the team",
    A.MEMBER_REACTIVATE: "Reactivated a member",
    A.MEMBER_REMOVE: "Removed a member",
    A.MEMBER_ROLE: "Changed a role",
    A.NAME_CHANGE: "Changed the name",
    A.NOTIFICATIONS_CHANGE: "Changed which notifications come",
    A.MEMBER_SIGN_OUT: "Signed a member out everywhere",
    A.OWNERSHIP_ACCEPT: "Became an owner",
    A.OWNERSHIP_DECLINE: "Declined the ownership",
    A.OWNERSHIP_REQUEST: "Asked a member to become an owner",
    A.OWNERSHIP_WITHDRAW: "Withdrew the transfer of the ownership",
    A.PASSWORD_CHANGE: "Changed the password",
    A.PASSWORD_RESET: "Reset the password",
    A.PRESET_ADD: "Added a preset",
    A.PRESET_CHANGE: "Changed a preset",
    A.PRESET_REMOVE: "Deleted a preset",
    A.RENDER_PLAN_CREATE: "Confirmed a render after the script",
    A.RENDER_PLAN_END: "Ended a render after the script",
    A.RECOVERY_CODES_RENEW: "Made new recovery codes",
    A.REPORT_RECIPIENTS: "Changed who gets the monthly report",
    A.SECOND_FACTOR_ADD: "Added a second factor",
    A.SECOND_FACTOR_REMOVE: "Removed a second factor",
    A.SECOND_FACTOR_RESET: "Reset the two-factor sign-in of a member",
    A.SECOND_PERSON_CHANGE: "Changed the second-person rule",
    A.SESSION_END: "Ended sessions",
    A.SIGN_IN: "Signed in",
    A.SIGN_IN_REFUSE: "Sign-in refused",
    A.SIGN_OUT: "Signed out",
    A.SINGLE_SIGN_ON_BYPASS: "Signed in past single sign-on",
    A.SINGLE_SIGN_ON_CHANGE: "Changed single sign-on",
    A.SINGLE_SIGN_ON_JOIN: "Joined with single sign-on",
    A.SINGLE_SIGN_ON_REMOVE: "Removed single sign-on",
    A.SINGLE_SIGN_ON_REQUIRE: "Changed whether single sign-on is required",
    A.SINGLE_SIGN_ON_SECRET: "Changed the client secret",
    A.SINGLE_SIGN_ON_TEST: "Tested single sign-on",
    A.SINGLE_SIGN_ON_UNLINK: "Removed the link of a member to the provider",
    A.TEAM_CREATE: "Created the team",
    A.TEAM_DOMAINS: "Changed the allowed e-mail domains",
    A.TEAM_RESTORE: "Ended the suspension of the team",
    A.TEAM_SESSIONS: "Changed the length of sessions",
    A.TEAM_SIGN_OUT: "Signed everybody out",
    A.TEAM_SUSPEND: "Suspended the team",
    A.TEAM_TIME_ZONE: "Changed the time zone",
    A.TEAM_TWO_FACTOR: "Changed whether two-factor is required",
    A.ACCOUNT_ARCHIVE: "Archived an account",
    A.ACCOUNT_PRICE: "Changed the price per credit",
    A.ACCOUNT_RESTORE: "Restored an account",
    A.TOKEN_ADD: "Added a token",
    A.TOKEN_REMOVE: "Removed a token",
    A.TOKEN_REQUEST: "Asked a member for a token",
    A.TOKEN_UNDECRYPTABLE: "Token cannot be decrypted",
    A.TOP_UP_CHANGE: "Changed auto top-up",
    A.VERSIONS_CREATE: "Created versions",
    A.VIDEO_HIDE: "Hid a video",
    A.VIDEO_IMPORT: "Imported a video",
    A.VIDEO_LABEL: "Changed the labels of a video",
    A.VIDEO_RECHECK: "Checked a video again",
    A.VIDEO_UNHIDE: "Restored a video",
    A.VOICE_CONSENT: "Recorded a consent",
    A.VOICE_CONSENT_WITHDRAW: "Withdrew a consent",
    A.WEBHOOK_REMOVE: "Removed a webhook",
    A.WEBHOOK_SET: "Set a webhook",
}
REFUSED_ACTIONS = frozenset({A.ACCESS_REFUSE, A.CONFIRMATION_REFUSE, A.SIGN_IN_REFUSE})
GROUP_LABELS = {
    "": "any change",
    "sign-in": "Sign-in",
    "members": "Members",
    "money": "Money",
    "tokens": "Tokens and webhooks",
    "security": "Security",
    "settings": "Settings",
    "videos": "Videos and drafts",
    "refused": "Refused attempts",
}
MEMBER_TOPICS = ("invitation", "member", "name", "notifications", "ownership")
ACTIONS_BY_GROUP: dict[str, frozenset[str]] = {
    "sign-in": frozenset(
        action
        for action in A
        if action.partition(".")[0]
        in (
            "confirmation",
            "email",
            "password",
            "recovery_codes",
            "second_factor",
            "session",
            "sign_in",
            "sign_out",
        )
        or action == A.SINGLE_SIGN_ON_BYPASS
    ),
    "members": frozenset(
        action
        for action in A
        if action.partition(".")[0]
        in ("invitation", "member", "name", "notifications", "ownership")
        or action in (A.SINGLE_SIGN_ON_JOIN, A.SINGLE_SIGN_ON_UNLINK)
    ),
    "money": frozenset(MONEY_AUDIT_ACTIONS),
    "tokens": frozenset(
        {
            A.ACCOUNT_ARCHIVE,
            A.ACCOUNT_RESTORE,
            A.TOKEN_ADD,
            A.TOKEN_REMOVE,
            A.TOKEN_REQUEST,
            A.TOKEN_UNDECRYPTABLE,
            A.KEY_ROTATION_START,
            A.KEY_ROTATION_END,
            A.WEBHOOK_SET,
            A.WEBHOOK_REMOVE,
        }
    ),
    "settings": frozenset(
        {
            A.TEAM_CREATE,
            A.TEAM_RESTORE,
            A.TEAM_SUSPEND,
            A.TEAM_TIME_ZONE,
            A.BRAND_KIT_CHANGE,
            A.ALERT_RESEND,
            A.ALERT_TEST,
        }
    ),
    "security": frozenset(
        {
            A.AUDIT_EXPORT,
            A.AUDIT_VERIFY,
            A.SINGLE_SIGN_ON_CHANGE,
            A.SINGLE_SIGN_ON_REMOVE,
            A.SINGLE_SIGN_ON_REQUIRE,
            A.SINGLE_SIGN_ON_SECRET,
            A.SINGLE_SIGN_ON_TEST,
            A.TEAM_DOMAINS,
            A.TEAM_SESSIONS,
            A.TEAM_SIGN_OUT,
            A.TEAM_TWO_FACTOR,
        }
    ),
    "refused": frozenset(REFUSED_ACTIONS),
}
ACTIONS_BY_GROUP["videos"] = frozenset(ACTION_TITLES).difference(*ACTIONS_BY_GROUP.values())


def action_title(action: str) -> str:
    return ACTION_TITLES.get(action, action)
