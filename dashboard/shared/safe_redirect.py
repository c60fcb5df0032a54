"""Safe return URLs after sign-in or after a setting was changed."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme

# URL names that only accept forms, and the page of the form. A refused form is shown at such a
# URL, so the return URL may be one.
FORM_PAGES = {
    "account-app-cancellations": "account",
    "account-archives": "tokens",
    "account-profile": "account",
    "account-restorations": "tokens",
    "alert-delivery-resends": "alert-deliveries",
    "alert-tests": "alert-deliveries",
    "alert-webhooks": "alert-deliveries",
    "alert-webhook-activations": "alert-deliveries",
    "alert-webhook-removals": "alert-deliveries",
    "allowed-domain-removals": "security",
    "allowed-domains": "security",
    "api-key-pauses": "api-keys",
    "api-key-resumptions": "api-keys",
    "approval-request-comments": "budgets",
    "audit-checks": "audit",
    "budget-raise-ends": "budgets",
    "budget-removals": "budgets",
    "character-checks": "characters",
    "character-choices": "characters",
    "character-restorations": "characters",
    "charge-checks": "reconciliation",
    "credit-pack-removals": "top-up",
    "confirmations": "account",
    "credit-packs": "top-up",
    "clip-drafts": "clips",
    "ledger-report-mails": "ledger-report",
    "studio-deletions": "drafts",
    "studio-planned-renders": "studio",
    "studio-reading": "studio",
    "library-undo": "library",
    "studio-restorations": "drafts",
    "studio-schedule-cancellations": "studio",
    "studio-schedule-restorations": "studio",
    "draft-brand-kit": "studio",
    "email-withdrawals": "account",
    "other-session-ends": "account",
    "outside-source-removals": "reconciliation",
    "session-ends": "account",
    "invitation-mails": "members",
    "invitation-restorations": "members",
    "invitation-revocations": "members",
    "member-charge-resumptions": "members",
    "member-role-restorations": "members",
    "member-roles": "members",
    "member-sign-outs": "members",
    "member-token-requests": "members",
    "ownership-refusals": "members",
    "ownership-withdrawals": "members",
    "batch-of-ideas": "ideas",
    "batch-pauses": "batches",
    "series-pauses": "series-list",
    "preset-comparisons": "presets",
    "preset-copies": "presets",
    "preset-defaults": "presets",
    "preset-drafts": "presets",
    "preset-names": "presets",
    "preset-replacements": "presets",
    "export-repeats": "library",
    "new-images": "library",
    "alerts-read": "alerts",
    "idea-drafts": "ideas",
    "idea-refreshes": "ideas",
    "voice-deletions": "voices",
    "voice-favourites": "voices",
    "voice-new": "voices",
    "voice-sample-removals": "voices",
    "voice-samples": "voices",
    "selection-hide": "library",
    "selection-restorations": "library",
    "getting-started-hide": "overview",
    "session-limits": "security",
    "storyboard-duplicates": "storyboards",
    "storyboard-durations": "storyboards",
    "storyboard-presence": "storyboards",
    "storyboard-price": "storyboards",
    "storyboard-restorations": "storyboards",
    "storyboard-scenes": "storyboards",
    "storyboard-settings": "storyboards",
    "sso-removals": "security",
    "sso-requirement": "security",
    "sso-settings": "security",
    "sso-tests": "security",
    "studio-copies": "studio",
    "studio-type-undo": "studio",
    "team": "overview",
    "team-time-zone": "members",
    "theme": "overview",
    "two-factor-reminders": "security",
    "two-factor-requirement": "security",
    "video-checks": "library",
    "video-restorations": "library",
    "video-version-choices": "library",
}


def safe_return_path(request: HttpRequest, page: str) -> str:
    """Return path and query of a page of this site, or "/" for any other URL.

    A URL that only accepts forms is replaced by the page of the form.
    """
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure()):
        return "/"
    path = urlsplit(page)._replace(scheme="", netloc="", fragment="").geturl()
    # A path such as `//example.com` would be another host.
    if not path.startswith("/") or not url_has_allowed_host_and_scheme(path, None):
        return "/"
    try:
        name = resolve(urlsplit(path).path).url_name
    except Resolver404:
        return path
    return reverse(FORM_PAGES[name]) if name in FORM_PAGES else path
