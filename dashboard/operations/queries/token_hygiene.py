"""Tokens to look after: age, last use, refusals, and accounts that several of them share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.formatting import clock, day
from dashboard.shared.roles import assignable_roles
from dashboard.shared.token_status import annotate_last_use, build_token_status, last_use
from proxyapi.credentials import token_vault
from proxyapi.models import Tenant, Token, TokenState

UNUSED_AFTER = timedelta(days=30)
OLD_AFTER = timedelta(days=365)
NEVER_TEXT = "never"
NO_RECORD_TEXT = "no record"  # calls are kept for API_CALL_RETENTION_DAYS
NUMBER_WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


@dataclass(frozen=True, slots=True)
class TokenHygieneRow:
    """`refused_at` is empty if the service never refused the token. `state` and `advice`: what to
    do, quiet if nothing."""

    owner: str
    initials: str
    last_four: str
    account: str
    shared: str
    added: str
    age: str
    last_used: str
    refused_at: str
    state: str
    advice: str
    url: str
    replace_url: str = ""  # of the reader's own token
    ask_url: str = ""  # to remind its member
    first_name: str = ""

    @property
    def row_state(self) -> str:
        return "" if self.state == "completed" else self.state


def load_tokens(tenant: Tenant) -> list[Token]:
    """Return the team's tokens in the order of their accounts, with the times of their last call
    and charge; one query."""
    tokens = annotate_last_use(Token.objects.not_removed().filter(tenant=tenant))
    tokens = tokens.select_related("account", "owner")
    tokens = tokens.defer("account__options", "account__costs")
    owners = Membership.objects.filter(team__tenant=OuterRef("tenant"), user=OuterRef("owner"))
    tokens = tokens.annotate(
        membership_id=Subquery(owners.values("pk")[:1]),
        owner_role=Subquery(owners.values("role")[:1]),
    )
    return list(tokens.order_by("account__created_at", "account_id", "created_at"))


def build_hygiene_rows(
    tokens: Sequence[Token], reader: Membership, now: datetime
) -> tuple[TokenHygieneRow, ...]:
    """Return those that need something first; no query."""
    sharing = Counter(token.account_id for token in tokens)
    rows = [build_hygiene_row(token, reader, sharing, now) for token in tokens]
    return tuple(sorted(rows, key=lambda row: row.state == "completed"))


def build_hygiene_row(
    token: Token, reader: Membership, sharing: Mapping[UUID, int], now: datetime
) -> TokenHygieneRow:
    used_at = last_use(token)
    state, advice = find_advice(token, used_at, now)
    needs_act = state != "completed"
    return TokenHygieneRow(
        owner=str(token.owner),
        initials=token.owner.initials,
        last_four=token.last_four,
        account=token.account.label,
        shared=shared_text(sharing[token.account_id]),
        added=day(token.created_at),
        age=age_text(now - token.created_at),
        last_used=clock(used_at) or NO_RECORD_TEXT,
        refused_at=clock(token.refused_at) or NEVER_TEXT,
        state=state,
        advice=advice,
        url=reverse("tokens"),
        replace_url=reverse("tokens") if needs_act and token.owner_id == reader.user_id else "",
        ask_url=find_reminder_url(token, reader) if needs_act else "",
        first_name=token.owner.first_name,
    )


def find_reminder_url(token: Token, reader: Membership) -> str:
    """Return where the reader reminds the member of a stopped token; "" if it is not theirs to
    ask."""
    role, membership_id = getattr(token, "owner_role", None), getattr(token, "membership_id", None)
    stopped = token.state == TokenState.REVOKED or not token_vault.can_decrypt(token)
    is_own = token.owner_id == reader.user_id
    if is_own or not stopped or role is None or not assignable_roles(reader.role, role):
        return ""
    return reverse("member-token-requests", args=[membership_id])


def find_advice(token: Token, used_at: datetime | None, now: datetime) -> tuple[str, str]:
    """Return a state and what to do."""
    status = build_token_status(token)
    if token.state == TokenState.REVOKED:
        return "paused", "Stopped, replace it"
    if not status.works:
        return status.state, status.word
    unused = min(now - (used_at or token.created_at), now - token.created_at)
    if unused > UNUSED_AFTER:
        # Older calls are deleted: without a record it is known for their retention only.
        days = unused.days if used_at else min(unused.days, settings.API_CALL_RETENTION_DAYS)
        return "late", f"Unused for {'' if used_at else 'at least '}{days} days"
    if now - token.created_at > OLD_AFTER:
        return "late", "Older than a year"
    return "completed", "Nothing to do"


def shared_text(count: int) -> str:
    if count < 2:
        return ""
    return f"shared by {NUMBER_WORDS.get(count, str(count))} tokens"


def age_text(age: timedelta) -> str:
    days = max(0, age.days)
    if days < OLD_AFTER.days:
        return f"{days} day{'' if days == 1 else 's'}"
    years, rest = divmod(days, OLD_AFTER.days)
    months = rest // 30
    return f"{years} y {months} mo" if months else f"{years} y"
