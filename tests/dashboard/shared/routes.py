"""Every route of ours, and who may use it; test_access.py asks each of them as each role."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.models import Role

EVERYBODY = frozenset(Role)
MAKERS = frozenset({Role.OWNER, Role.ADMIN, Role.PRODUCER})
KEEPERS = MAKERS | {Role.TREASURER}
OWNERS = frozenset({Role.OWNER})
MANAGERS = frozenset({Role.OWNER, Role.ADMIN})
TREASURERS = frozenset({Role.OWNER, Role.TREASURER})
PRODUCER = frozenset({Role.PRODUCER})
AUDITORS = MANAGERS | TREASURERS


class Route(NamedTuple):
    """Who may use it: by GET (None: GET is not for pages), by POST (None: it takes none)."""

    get: frozenset[Role] | None
    post: frozenset[Role] | None = None
    of: str = ""  # the object in its address
    refused: int = 403  # 404: the page does not exist for other roles


ROUTES = {
    "overview": Route(EVERYBODY),
    "getting-started-hide": Route(None, EVERYBODY),
    "library": Route(EVERYBODY),
    "live": Route(None),  # a stream: tests/dashboard/shared/live/test_stream.py
    "theme": Route(None, EVERYBODY),
    "team": Route(None, EVERYBODY),
    "session": Route(EVERYBODY, EVERYBODY),
    "account": Route(EVERYBODY),
    "account-profile": Route(None, EVERYBODY),
    "email-withdrawals": Route(None, EVERYBODY),
    "confirmations": Route(None, EVERYBODY),
    "passkey-options": Route(EVERYBODY, None),
    "account-app": Route(EVERYBODY, EVERYBODY),
    "account-app-cancellations": Route(None, EVERYBODY),
    # Of the producer: what somebody else has does not exist.
    "account-app-removals": Route(PRODUCER, PRODUCER, refused=404),
    "recovery-codes": Route(PRODUCER, PRODUCER, refused=404),
    "passkeys": Route(EVERYBODY, EVERYBODY),
    "passkey-names": Route(PRODUCER, PRODUCER, of="passkey", refused=404),
    "passkey-removals": Route(PRODUCER, PRODUCER, of="passkey", refused=404),
    "session-ends": Route(None, PRODUCER, of="session", refused=404),
    "other-session-ends": Route(None, EVERYBODY),
    "account-notifications": Route(EVERYBODY, EVERYBODY),
    "demo-mails": Route(EVERYBODY),
    # A mail of the demo: tests/dashboard/demo_mails/.
    "demo-mail": Route(None),
    "demo-mail-html": Route(None),
    "service": Route(EVERYBODY),
    "labels": Route(EVERYBODY),
    "library-imports": Route(MAKERS, MAKERS),
    "label-new": Route(MAKERS, MAKERS),
    "label-name": Route(MAKERS, MAKERS, of="label"),
    "label-removals": Route(MAKERS, MAKERS, of="label"),
    "selection-labels": Route(MAKERS, MAKERS),
    "selection-hide": Route(None, MAKERS),
    "selection-restorations": Route(None, MAKERS),
    "video-versions": Route(EVERYBODY, of="group"),
    "video-version-choices": Route(None, MAKERS, of="group"),
    "studio-versions": Route(MAKERS, MAKERS, of="job"),
    "studio-version-renders": Route(MAKERS, MAKERS, of="group"),
    "library-undo": Route(None, MAKERS, of="change"),
    "video": Route(EVERYBODY, of="job"),
    "video-menu": Route(MAKERS, of="job"),
    "video-actions": Route(EVERYBODY, of="job"),
    "video-hide": Route(MAKERS, MAKERS, of="job"),
    "video-checks": Route(None, KEEPERS, of="job"),
    "video-media": Route(None, of="job"),  # a film: tests/dashboard/library/test_media.py
    "video-poster": Route(None, of="job"),  # a picture: tests/dashboard/library/test_poster.py
    "part-media": Route(None, of="job"),  # a picture: tests/dashboard/library/test_part_media.py
    "video-restorations": Route(None, MAKERS, of="job"),
    "video-retries": Route(MAKERS, MAKERS, of="job"),
    "scenes": Route(EVERYBODY, of="job"),
    "new-images": Route(None, MAKERS, of="part"),
    "own-media": Route(MAKERS, MAKERS, of="job"),
    "new-renders": Route(MAKERS, MAKERS, of="job"),
    "exports": Route(EVERYBODY, of="job"),
    "export-new": Route(MAKERS, MAKERS, of="job"),
    "export": Route(EVERYBODY, of="export"),
    "export-repeats": Route(None, MAKERS, of="export"),
    "studio": Route(EVERYBODY),
    "drafts": Route(EVERYBODY, MAKERS),
    "studio-deletions": Route(None, MAKERS, of="job"),
    "studio-restorations": Route(None, MAKERS, of="job"),
    "studio-reading": Route(None, MAKERS),
    "clips": Route(EVERYBODY),
    "clip-drafts": Route(None, MAKERS),
    "clip-frames": Route(MAKERS),
    "clip-price": Route(MAKERS, MAKERS, of="clip"),
    "clip-generations": Route(MAKERS, MAKERS, of="clip"),
    "storyboard": Route(EVERYBODY, of="storyboard"),
    "storyboard-scenes": Route(None, MAKERS, of="storyboard"),
    "storyboard-scene": Route(EVERYBODY, MAKERS, of="scene"),
    "storyboard-frame": Route(EVERYBODY, MAKERS, of="scene"),
    "storyboard-presence": Route(None, MAKERS, of="storyboard"),
    "storyboard-settings": Route(None, MAKERS, of="storyboard"),
    "storyboard-durations": Route(None, MAKERS, of="storyboard"),
    "storyboard-kept-clips": Route(None),  # tests/dashboard/storyboards/test_settings.py
    "storyboard-clips": Route(MAKERS, MAKERS, of="storyboard"),
    "storyboard-price": Route(None, MAKERS, of="storyboard"),
    "storyboard-render": Route(MAKERS, MAKERS, of="storyboard"),
    "clip-reference": Route(None),  # tests/dashboard/clips/test_references.py
    "storyboards": Route(EVERYBODY),
    "new-storyboard": Route(MAKERS, MAKERS),
    "storyboard-writing": Route(MAKERS, MAKERS, of="storyboard"),
    "storyboard-duplicates": Route(None, MAKERS, of="storyboard"),
    "storyboard-deletion": Route(MAKERS, MAKERS, of="storyboard"),
    "storyboard-restorations": Route(None, MAKERS, of="storyboard"),
    "storyboard-additions": Route(MAKERS, MAKERS, of="clip"),
    "ideas": Route(EVERYBODY),
    "idea-searches": Route(EVERYBODY, MAKERS),
    "idea-search-check": Route(MAKERS),
    "idea-refreshes": Route(None, KEEPERS),
    "idea-drafts": Route(None, MAKERS),
    "characters": Route(EVERYBODY),
    "character-new": Route(MAKERS, MAKERS),
    "character": Route(EVERYBODY, of="character"),
    "character-photo": Route(EVERYBODY, of="character"),
    "character-step": Route(MAKERS, MAKERS, of="character"),
    "character-previews": Route(MAKERS, MAKERS, of="character"),
    "character-choices": Route(None, MAKERS, of="character"),
    "character-picture": Route(EVERYBODY, of="picture"),
    "character-training": Route(MAKERS, MAKERS, of="character"),
    "character-hide": Route(MAKERS, MAKERS, of="character"),
    "character-restorations": Route(None, MAKERS, of="character"),
    "character-checks": Route(None, KEEPERS, of="character"),
    "studio-draft": Route(EVERYBODY, of="job"),
    "studio-copies": Route(None, MAKERS, of="job"),
    "studio-type-undo": Route(None, MAKERS, of="job"),
    "studio-step": Route(EVERYBODY, MAKERS, of="job"),
    "studio-scripts": Route(None, MAKERS, of="job"),
    # An earlier script: tests/dashboard/studio/test_script_versions.py.
    "studio-script-restorations": Route(None),
    # A web page: tests/dashboard/studio/test_source.py.
    "studio-page-read": Route(None),
    "studio-images": Route(None),
    "studio-price": Route(EVERYBODY, MAKERS, of="job"),
    "studio-planned-renders": Route(None, MAKERS, of="job"),
    "studio-renders": Route(MAKERS, MAKERS, of="job"),
    "draft-brand-kit": Route(None, MAKERS, of="job"),
    "brand-kit": Route(MANAGERS, MANAGERS),
    "presets": Route(EVERYBODY),
    "preset-sources": Route(MAKERS),
    "preset-comparisons": Route(None, MAKERS),
    "preset-new": Route(MAKERS, MAKERS, of="job"),
    "preset": Route(EVERYBODY, MAKERS, of="preset"),
    "preset-names": Route(None, MAKERS, of="preset"),
    "preset-drafts": Route(None, MAKERS, of="preset"),
    "preset-copies": Route(None, MAKERS, of="preset"),
    "preset-defaults": Route(None, MAKERS, of="preset"),
    "preset-replacements": Route(None, MAKERS, of="preset"),
    "preset-removals": Route(MAKERS, MAKERS, of="preset"),
    "voices": Route(EVERYBODY),
    "voice-new": Route(None, MAKERS),
    "voice-favourites": Route(None, EVERYBODY),
    "voice-slots": Route(EVERYBODY, KEEPERS, of="account"),
    "voice": Route(EVERYBODY, MAKERS, of="voice"),
    "voice-samples": Route(None, MAKERS, of="voice"),
    "voice-sample": Route(MAKERS, of="sample"),
    "voice-sample-removals": Route(None, MAKERS, of="sample"),
    "voice-creations": Route(MAKERS, MAKERS, of="voice"),
    "voice-deletions": Route(None, MAKERS, of="voice"),
    "voice-withdrawals": Route(MAKERS, MAKERS, of="voice"),
    "budgets": Route(EVERYBODY),
    "budget-new": Route(TREASURERS, TREASURERS),
    "budget-limits": Route(TREASURERS, TREASURERS, of="budget"),
    "budget-removals": Route(None, TREASURERS, of="budget"),
    "second-person-rule": Route(TREASURERS, TREASURERS),
    # Of the producer: who made it reads it too, and comments on it.
    "approval-request": Route(TREASURERS | {Role.PRODUCER}, of="approval"),
    "approval-request-comments": Route(None, TREASURERS | {Role.PRODUCER}, of="approval"),
    "approval-request-approvals": Route(TREASURERS, TREASURERS, of="approval"),
    "approval-request-refusals": Route(TREASURERS, TREASURERS, of="approval"),
    "approval-request-withdrawals": Route(MAKERS, MAKERS, of="approval"),
    "ledger": Route(EVERYBODY),
    "ledger-charts": Route(EVERYBODY),
    "ledger-export": Route(None),  # a stream: tests/dashboard/ledger/test_csv_export.py
    "ledger-report": Route(EVERYBODY),
    "ledger-report-export": Route(EVERYBODY),
    "ledger-report-recipients": Route(TREASURERS, TREASURERS),
    "ledger-report-mails": Route(None, EVERYBODY),
    "ledger-entry": Route(EVERYBODY, of="account"),
    "costs": Route(EVERYBODY),
    "credit-price": Route(TREASURERS, TREASURERS, of="account"),
    "estimate-accuracy": Route(EVERYBODY),
    "reconciliation": Route(EVERYBODY),
    "charge-checks": Route(None, KEEPERS, of="charge"),
    "charge-write-offs": Route(TREASURERS, TREASURERS, of="charge"),
    "charge-matches": Route(TREASURERS, TREASURERS, of="charge"),
    "charge-match-removals": Route(TREASURERS, TREASURERS, of="charge"),
    "conflict-acceptances": Route(TREASURERS, TREASURERS, of="rewrite"),
    "account-acceptances": Route(TREASURERS, TREASURERS, of="account"),
    "account-opening-balances": Route(TREASURERS, TREASURERS, of="account"),
    "forecast": Route(EVERYBODY),
    "forecast-summary": Route(EVERYBODY),
    "top-up": Route(TREASURERS),
    "top-up-state": Route(TREASURERS),
    "top-up-what-if": Route(TREASURERS),
    "top-up-changes": Route(TREASURERS, TREASURERS),
    "credit-packs": Route(None, TREASURERS),
    "credit-pack-removals": Route(None, TREASURERS, of="pack"),
    "alerts": Route(EVERYBODY),
    "alert-rules": Route(TREASURERS, TREASURERS),
    "alert-rule-new": Route(TREASURERS, TREASURERS),
    "alert-deliveries": Route(TREASURERS),
    "alert-delivery-resends": Route(None, TREASURERS, of="delivery"),
    "alert-webhooks": Route(None, TREASURERS),
    "alert-webhook-removals": Route(None, TREASURERS, of="webhook"),
    "alert-tests": Route(None, TREASURERS),
    "alerts-unread": Route(EVERYBODY),
    "alerts-read": Route(None, EVERYBODY),
    "api-requests": Route(KEEPERS, refused=404),
    "api-request": Route(KEEPERS, of="request", refused=404),
    "api-requests-export": Route(None),  # a stream: tests/dashboard/api_requests/test_export.py
    "audit": Route(AUDITORS, refused=404),
    "audit-entry": Route(AUDITORS, of="entry", refused=404),
    "audit-checks": Route(None, MANAGERS, refused=404),
    "audit-export": Route(None),  # a stream: tests/dashboard/audit/test_export.py
    "operations": Route(MANAGERS, refused=404),
    "charge-stops": Route(MANAGERS, MANAGERS, refused=404),
    "charge-resumptions": Route(MANAGERS, MANAGERS, refused=404),
    "members": Route(EVERYBODY),
    "security": Route(MANAGERS, refused=404),
    "two-factor-requirement": Route(None, MANAGERS, refused=404),
    "two-factor-reminders": Route(None, MANAGERS, of="membership", refused=404),
    "two-factor-required": Route(EVERYBODY),
    "allowed-domains": Route(None, MANAGERS, refused=404),
    "allowed-domain-removals": Route(None, MANAGERS, refused=404),
    "session-limits": Route(None, MANAGERS, refused=404),
    "team-sign-outs": Route(MANAGERS, MANAGERS, refused=404),
    "sso-settings": Route(None, OWNERS),
    "sso-secrets": Route(OWNERS, OWNERS),
    "sso-tests": Route(None, OWNERS),
    "sso-requirement": Route(None, OWNERS),
    "sso-removals": Route(None, OWNERS),
    "invitations": Route(MANAGERS, MANAGERS),
    "invitation-mails": Route(None, MANAGERS, of="invitation"),
    "invitation-restorations": Route(None, MANAGERS, of="invitation"),
    "invitation-revocations": Route(None, MANAGERS, of="invitation"),
    "ownership-transfers": Route(frozenset({Role.OWNER}), frozenset({Role.OWNER})),
    # Of the producer, who was asked.
    "ownership-acceptances": Route(
        frozenset({Role.PRODUCER}), frozenset({Role.PRODUCER}), of="transfer"
    ),
    "ownership-refusals": Route(None, frozenset({Role.PRODUCER}), of="transfer"),
    "ownership-withdrawals": Route(None, frozenset({Role.OWNER}), of="transfer"),
    "member-roles": Route(None, MANAGERS, of="membership"),
    "member-role-restorations": Route(None, MANAGERS, of="membership"),
    # Of the producer: one's own membership is left by everybody.
    "member-removals": Route(MAKERS, MAKERS, of="membership"),
    "member-handovers": Route(MAKERS, MAKERS, of="membership"),
    "member-deactivations": Route(MANAGERS, MANAGERS, of="membership"),
    "member-reactivations": Route(MANAGERS, MANAGERS, of="deactivated"),
    "member-token-requests": Route(None, MANAGERS, of="membership"),
    "member-sign-outs": Route(None, MANAGERS, of="membership"),
    "member-second-factor-resets": Route(MANAGERS, MANAGERS, of="membership"),
    "member-provider-link-removals": Route(OWNERS, OWNERS, of="membership"),
    "team-time-zone": Route(None, frozenset({Role.OWNER})),
    "tokens": Route(EVERYBODY, KEEPERS),
    "account-archives": Route(None, TREASURERS, of="account"),
    "account-restorations": Route(None, TREASURERS, of="account"),
    "token-names": Route(MAKERS, MAKERS, of="token"),
    "token-removals": Route(MAKERS, MAKERS, of="token"),
    # Of the producer: a colleague's key is limited, paused or revoked by who manages.
    "api-keys": Route(KEEPERS, refused=404),
    "api-key-new": Route(MAKERS, MAKERS, refused=404),
    "api-key": Route(TREASURERS | PRODUCER, TREASURERS | PRODUCER, of="key", refused=404),
    "api-key-pauses": Route(None, KEEPERS, of="key", refused=404),
    "api-key-resumptions": Route(None, KEEPERS, of="key", refused=404),
    "api-key-rotations": Route(PRODUCER, PRODUCER, of="key", refused=404),
    "api-key-revocations": Route(MAKERS, MAKERS, of="key", refused=404),
}
OWN_ALONE = {"approval-request-withdrawals"}  # colleagues see it, and are told whose it is
# For the operator of the installation alone: tests/dashboard/instance/test_access.py.
OPERATORS = {"key-rotations", "instance", "instance-teams"}
OPERATORS |= {"team-suspensions", "team-restorations", "team-invitations"}
# For whoever watches over the process, for who was invited (tests/dashboard/members), and for who
# has not signed in yet (tests/dashboard/account).
OPEN = {
    *("healthz", "readyz", "join", "join-acceptances", "invitation"),
    *("email-confirmation", "sign-in-cancellations"),
    *("single-sign-on", "team-single-sign-on", "single-sign-on-callback"),
}
# Only for the first owner, until it is complete: tests/dashboard/setup/.
OPEN |= {"setup", "setup-tokens", "setup-invitations", "setup-completions", "setup-checks"}
