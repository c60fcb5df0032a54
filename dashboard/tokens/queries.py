"""The tokens of a team by account, for their page; never their values."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.member_token import default_token_ids
from dashboard.shared.roles import Permission, role_allows
from dashboard.shared.team_balance import plan_renewal_text
from dashboard.shared.token_status import (
    NO_PAID_PLAN_TEXT,
    NOT_VERIFIED_TEXT,
    annotate_last_use,
    build_token_status,
    last_use,
)
from proxyapi.models import Account, AccountPlan, ApiKey, JobState, Token
from proxyapi.token_failover import find_successor_token

NOT_ARCHIVED_FIRST = F("archived_at").asc(nulls_first=True)
# Anchors of what to do about a status, below the form.
HELP_ANCHORS = {NO_PAID_PLAN_TEXT: "help-plan", NOT_VERIFIED_TEXT: "help-address"}


def load_tokens_page(reader: Membership) -> dict[str, Any]:
    """Return the accounts with their tokens, and `closed`: those without one, archived ones last.
    Two queries."""
    stored = Token.objects.not_removed()
    tokens = annotate_last_use(stored.filter(tenant=reader.team.tenant_id).best_first())
    best_first = list(
        tokens.select_related("account", "owner").defer("account__options", "account__costs")
    )
    default_ids = default_token_ids(best_first)
    owned = Counter(token.owner_id for token in best_first)
    groups: dict[Account, list[dict[str, Any]]] = {}
    for token in sorted(best_first, key=account_and_age):
        row = build_token_row(token, reader)
        row["is_default"] = token.pk in default_ids and owned[token.owner_id] > 1
        groups.setdefault(token.account, []).append(row)
    closed = Account.objects.filter(
        ~Exists(stored.filter(account=OuterRef("pk"))), tenant=reader.team.tenant_id
    )
    return {
        "note": tokens_note(len(best_first), len(groups)),
        "accounts": [build_account_group(account, rows) for account, rows in groups.items()],
        "closed": closed.defer("options", "costs").order_by(NOT_ARCHIVED_FIRST, "created_at"),
        "help_anchors": {row["help_anchor"] for rows in groups.values() for row in rows} - {""},
        "may_add_token": role_allows(reader.role, Permission.KEEP_TOKEN),
        "may_archive": role_allows(reader.role, Permission.MANAGE_MONEY),
    }


def account_and_age(token: Token) -> tuple[datetime, UUID, datetime]:
    return token.account.created_at, token.account_id, token.created_at


def tokens_note(tokens: int, accounts: int) -> str:
    if not tokens:
        return "No token yet. Members create videos with their own token."
    opened = "one account" if accounts == 1 else f"{accounts} accounts"
    verb = "One token for" if tokens == 1 else f"{tokens} tokens for"
    return f"{verb} {opened}. Members create videos with their own token."


def build_account_group(account: Account, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "account": account,
        "plan": account_plan_text(account),
        "shared": shared_account_text([row["token"] for row in rows]),
        "rows": rows,
    }


def build_token_row(token: Token, reader: Membership) -> dict[str, Any]:
    is_mine, status = token.owner_id == reader.user_id, build_token_status(token)
    return {
        "token": token,
        "status": status,
        "help_anchor": HELP_ANCHORS.get(status.word, ""),
        "used_at": last_use(token),
        "is_mine": is_mine,
        "may_change": is_mine or role_allows(reader.role, Permission.MANAGE_MEMBERS),
    }


def load_token_removal(token: Token, reader: Membership) -> dict[str, Any]:
    """Return what the dialog says of a token. Three queries."""
    return {
        "token": token,
        "whose": "" if token.owner_id == reader.user_id else token.owner,
        "running": token.jobs.filter(state=JobState.RUNNING).count(),
        "successor": find_successor_token(token),
        "keys": ApiKey.objects.active(timezone.now()).filter(token=token).count(),
    }


def account_plan_text(account: Account) -> str:
    """Return the plan and its renewal, such as "Business plan, renews in 11 days"."""
    if account.plan == AccountPlan.NONE:
        return "No plan"
    name, verb = f"{account.plan_name} plan" if account.plan_name else "Paid plan", "renews"
    if account.plan == AccountPlan.TRIAL:
        name, verb = "Trial", "ends"
    return (
        f"{name}, {plan_renewal_text(account.plan_ends_at, verb)}" if account.plan_ends_at else name
    )


def shared_account_text(tokens: list[Token]) -> str:
    """Return who shares the account's balance; "" if only one member has a token for it."""
    names = list(dict.fromkeys(token.owner.first_name for token in tokens))
    if len(names) < 2:
        return ""
    return f"{', '.join(names[:-1])} and {names[-1]} share this account: one balance, one ledger."
