"""The token that a member's new work runs on."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from dashboard.models import Membership, Role, Team
from dashboard.shared.roles import Permission, role_allows
from proxyapi.credentials import token_vault
from proxyapi.models import Token
from proxyapi.refusals import TokenRefused

ADD_ONE_FIRST = "You have no token yet. Add yours; everything you create uses it."
ROLES_WITH_TOKENS = tuple(role for role in Role if role_allows(role, Permission.KEEP_TOKEN))


def require_member_token(by: Membership) -> Token:
    """Return the member's best usable token with its account. Raises `TokenRefused`."""
    own_tokens = Token.objects.usable().filter(tenant=by.team.tenant, owner=by.user)
    token = token_vault.first_decryptable(own_tokens.select_related("account").best_first())
    if token is None:
        stored = Token.objects.not_removed().filter(tenant=by.team.tenant, owner=by.user)
        paused = (row.account.pause_reason for row in stored.select_related("account"))
        raise TokenRefused(next(filter(None, paused), ADD_ONE_FIRST))
    return token


def require_token_of_each_account(by: Membership) -> list[Token]:
    """Return the member's best usable token of each account, as `require_member_token` chooses
    it, the best first. Raises `TokenRefused` without any."""
    best = require_member_token(by)
    own_tokens = Token.objects.usable().filter(tenant=by.team.tenant, owner=by.user)
    by_account = {best.account_id: best}
    for token in own_tokens.select_related("account").best_first():
        if token_vault.can_decrypt(token):
            by_account.setdefault(token.account_id, token)
    return list(by_account.values())


def default_token_ids(tokens: Iterable[Token]) -> frozenset[UUID]:
    """Return the ids of the tokens that their owners' new work uses, as `require_member_token`
    chooses them. `tokens` are all of a team, best first, with their accounts; no query."""
    chosen: dict[int, UUID] = {}
    for token in tokens:
        is_first = token.owner_id not in chosen
        if is_first and token.is_usable and token_vault.can_decrypt(token):
            chosen[token.owner_id] = token.pk
    return frozenset(chosen.values())


def load_own_token(reader: Membership) -> Token | None:
    """Return the token that the reader's next clip is made with; one query."""
    tokens = Token.objects.not_removed().filter(tenant=reader.team.tenant_id, owner=reader.user_id)
    best = list(tokens.select_related("account").best_first())
    ready = [token for token in best if token.account.is_of_current_upstream]
    return token_vault.first_decryptable(ready or best)


def has_member_token(member: Membership) -> bool:
    """Whether the member has a token that may be sent now."""
    own_tokens = Token.objects.usable().filter(tenant=member.team.tenant_id, owner=member.user_id)
    return own_tokens.exists()


def token_owner_ids(team: Team) -> tuple[int, ...]:
    """Return the ids of the users with whose tokens work of others may go on: active members whose
    role keeps a token. A deactivated member's token takes on nothing."""
    members = Membership.objects.filter(team=team, role__in=ROLES_WITH_TOKENS, user__is_active=True)
    return tuple(members.values_list("user_id", flat=True))
