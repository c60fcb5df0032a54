"""The token that a member's new drafts run on."""

from __future__ import annotations

from dashboard.models import Membership
from proxyapi.credentials import token_vault
from proxyapi.models import Token
from proxyapi.refusals import TokenRefused

ADD_ONE_FIRST = "You have no token yet. Add yours; everything you create uses it."


def require_member_token(by: Membership) -> Token:
    own_tokens = Token.objects.usable().filter(tenant=by.team.tenant, owner=by.user)
    token = token_vault.first_decryptable(own_tokens.select_related("account").best_first())
    if token is None:
        stored = Token.objects.not_removed().filter(tenant=by.team.tenant, owner=by.user)
        paused = (row.account.pause_reason for row in stored.select_related("account"))
        raise TokenRefused(next(filter(None, paused), ADD_ONE_FIRST))
    return token
