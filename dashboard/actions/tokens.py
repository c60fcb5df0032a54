"""Tokens of members: added after a check, removed for good."""

from __future__ import annotations

from django.db import transaction

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Membership
from dashboard.roles import Permission
from proxyapi import tasks, tokens
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret


def add_token(*, by: Membership, pasted: Secret) -> Token:
    """Check the token with the service and store it sealed. Raises `TokenRefused`."""
    check(by, Permission.KEEP_TOKEN)

    def record(token: Token) -> None:
        account = token.account.upstream_id
        note(by, "token.add", token, fingerprint=token.fingerprint, account=account)

    token = tokens.add(by.team.vault, by.user_id, pasted, also=record)
    tasks.ring(tasks.refresh_account, token.account_id)
    return token


@transaction.atomic
def remove_token(*, by: Membership, token: Token) -> None:
    tokens.remove(token)
    note(by, "token.remove", token, fingerprint=token.fingerprint)
