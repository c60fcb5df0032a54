"""The tokens of a team by account, for their page; never their values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from dashboard.models import Membership
from dashboard.shared.roles import Permission, role_allows
from dashboard.shared.team_balance import plan_renewal_text
from dashboard.shared.token_status import TokenStatus, build_token_status
from proxyapi.models import Account, AccountPlan, JobState, Token
from proxyapi.token_failover import find_successor_token

NOT_ARCHIVED_FIRST = F("archived_at").asc(nulls_first=True)


@dataclass(frozen=True, slots=True)
class TokenRow:
    id: UUID
    owner: str
    initials: str
    last_four: str
    status: TokenStatus
    checked_at: datetime | None
    is_mine: bool
    may_remove: bool


@dataclass(frozen=True, slots=True)
class AccountGroup:
    name: str
    email: str
    plan: str
    shared: str
    balance: Decimal
    tokens: tuple[TokenRow, ...]


@dataclass(frozen=True, slots=True)
class TokensPage:
    """`closed` are the accounts without a token; archived ones are last."""

    accounts: tuple[AccountGroup, ...]
    closed: tuple[Account, ...]
    may_add_token: bool
    may_archive: bool

    @property
    def note(self) -> str:
        tokens = sum(len(account.tokens) for account in self.accounts)
        if not tokens:
            return "No token yet. Members create videos with their own token."
        accounts = len(self.accounts)
        opened = "one account" if accounts == 1 else f"{accounts} accounts"
        verb = "One token for" if tokens == 1 else f"{tokens} tokens for"
        return f"{verb} {opened}. Members create videos with their own token."


def build_tokens_page(reader: Membership) -> TokensPage:
    """Two queries."""
    tokens = Token.objects.not_removed().filter(account=OuterRef("pk"))
    closed = Account.objects.filter(~Exists(tokens), tenant=reader.team.tenant_id)
    rows = (
        Token.objects.not_removed()
        .filter(tenant=reader.team.tenant_id)
        .select_related("account", "owner")
        .defer("account__options", "account__costs")
        .order_by("account__created_at", "account_id", "created_at")
    )
    groups = groupby(rows, key=lambda token: token.account)
    return TokensPage(
        accounts=tuple(
            build_account_group(account, list(tokens), reader) for account, tokens in groups
        ),
        closed=tuple(closed.defer("options", "costs").order_by(NOT_ARCHIVED_FIRST, "created_at")),
        may_add_token=role_allows(reader.role, Permission.KEEP_TOKEN),
        may_archive=role_allows(reader.role, Permission.MANAGE_MONEY),
    )


def build_account_group(account: Account, tokens: list[Token], reader: Membership) -> AccountGroup:
    return AccountGroup(
        name=account.label,
        email=account.email if account.name else "",
        plan=account_plan_text(account),
        shared=shared_account_text(tokens),
        balance=account.balance,
        tokens=tuple(build_token_row(token, reader) for token in tokens),
    )


def load_token_removal(token: Token, reader: Membership) -> dict[str, Any]:
    """Return what the dialog says of a token. Two queries."""
    return {
        "token": token,
        "whose": "" if token.owner_id == reader.user_id else token.owner,
        "running": token.jobs.filter(state=JobState.RUNNING).count(),
        "successor": find_successor_token(token),
    }


def build_token_row(token: Token, reader: Membership) -> TokenRow:
    return TokenRow(
        id=token.pk,
        owner=str(token.owner),
        initials=token.owner.initials,
        last_four=token.last_four,
        status=build_token_status(token),
        checked_at=token.checked_at,
        is_mine=token.owner_id == reader.user_id,
        may_remove=token.owner_id == reader.user_id
        or role_allows(reader.role, Permission.MANAGE_MEMBERS),
    )


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
