"""Which API keys of the team a member may see, and what they may do with one.

What a role may not do does not exist for it: `Http404`. Members have their own keys; who operates
the team stops any, who manages money sees what they spend, pauses them and lowers their limits.
"""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from dashboard.models import Membership
from dashboard.shared.access.permissions import has_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.models import ApiKey

NO_SUCH_KEY = "This API key does not exist in this team, or not for your role."


class KeyRight(StrEnum):
    EDIT = "edit"  # name, scopes, token, limits, addresses, expiry; rotate it
    LIMIT = "limit"  # lower its credit limits
    PAUSE = "pause"  # and resume it
    REVOKE = "revoke"


def sees_all_keys(member: Membership) -> bool:
    return has_permission(member, Permission.OPERATE) or has_permission(
        member, Permission.MANAGE_MONEY
    )


def sees_api_keys(member: Membership) -> bool:
    """Whether the pages of API keys exist for the member."""
    return sees_all_keys(member) or has_permission(member, Permission.RENDER)


def visible_keys(member: Membership, *, agents: bool | None = False) -> QuerySet[ApiKey]:
    """Return the keys of the team, or the member's own; those of scripts, those of agents, or with
    None both. Raises `Http404` for a role without."""
    if not sees_api_keys(member):
        raise Http404(NO_SUCH_KEY)
    keys = ApiKey.objects.filter(tenant=member.team.tenant_id)
    if agents is not None:
        keys = keys.exclude(client_id="") if agents else keys.filter(client_id="")
    return keys if sees_all_keys(member) else keys.filter(owner=member.user_id)


def key_rights(member: Membership, key: ApiKey) -> frozenset[KeyRight]:
    """Return what the member may do with a key that they see."""
    may_own = has_permission(member, Permission.RENDER) or bool(key.client_id)
    if key.owner_id == member.user_id and may_own:
        return frozenset(KeyRight)
    rights: set[KeyRight] = set()
    if has_permission(member, Permission.OPERATE):
        rights |= {KeyRight.PAUSE, KeyRight.REVOKE}
    if has_permission(member, Permission.MANAGE_MONEY):
        rights |= {KeyRight.PAUSE, KeyRight.LIMIT}
    return frozenset(rights)


def fetch_api_key(
    request: TeamRequest, key_id: UUID, *rights: KeyRight, agents: bool | None = False
) -> ApiKey:
    """Return a key with which the reader may do one of these. `agents` is as in `visible_keys`."""
    keys = visible_keys(request.membership, agents=agents).select_related(
        "owner", "tenant", "token__account"
    )
    key = keys.filter(pk=key_id).first()
    if key is None or not key_rights(request.membership, key) & set(rights):
        raise Http404(NO_SUCH_KEY)
    return key
