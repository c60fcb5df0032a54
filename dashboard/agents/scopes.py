"""The scopes that an agent can be given: those of API keys but the reports of the whole team."""

from __future__ import annotations

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from proxyapi.models import KeyScope

SCOPE_SENTENCES = {
    KeyScope.READ: "See videos, options, costs and prices. Free.",
    KeyScope.CREATE: "Make drafts, change settings, upload files. Free.",
    KeyScope.RENDER: "Make scripts, films, clips and exports. Charges credits.",
    KeyScope.CREDITS: "See the balance, the ledger and auto top-up.",
}
USUAL_SCOPES = (KeyScope.READ, KeyScope.CREATE, KeyScope.RENDER)
SCOPES_OF_MAKERS = (KeyScope.CREATE, KeyScope.RENDER)


def offered_scopes() -> list[str]:
    return [str(scope) for scope in SCOPE_SENTENCES]


def grantable_scopes(member: Membership) -> list[KeyScope]:
    """The scopes that the member may give: none that charges or changes without the right to
    render."""
    if has_permission(member, Permission.RENDER):
        return list(SCOPE_SENTENCES)
    return [scope for scope in SCOPE_SENTENCES if scope not in SCOPES_OF_MAKERS]
