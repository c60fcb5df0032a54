"""The data of the members page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.models import Membership, Role
from dashboard.shared.roles import ROLE_DESCRIPTIONS, Permission, assignable_roles, role_allows
from dashboard.shared.token_status import TokenStatus, build_token_status
from proxyapi.credentials import token_vault
from proxyapi.models import Token

# If a member has several tokens, the one with the lowest rank is shown.
TOKEN_STATE_RANKS = {"working": 0, "paused": 1, "revoked": 2}
NO_TOKEN_STATUS = TokenStatus("draft", "No token")


@dataclass(frozen=True, slots=True)
class RoleChoice:
    value: str
    label: str
    sentence: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class MemberRow:
    """`roles` is empty if the reader may not change this member's role."""

    id: int
    name: str
    initials: str
    email: str
    is_me: bool
    role: str
    joined_at: datetime
    token: TokenStatus
    roles: tuple[RoleChoice, ...]


@dataclass(frozen=True, slots=True)
class MembersPage:
    members: tuple[MemberRow, ...]
    roles: tuple[RoleChoice, ...]
    time_zone: str
    may_set_zone: bool

    @property
    def note(self) -> str:
        people = len(self.members)
        working = sum(member.token.works for member in self.members)
        who = "One person" if people == 1 else f"{people} people"
        with_token = {0: "none", people: "all"}.get(working, str(working)) if people > 1 else ""
        if people == 1:
            return f"{who}, {'with' if working else 'without'} a working token."
        return f"{who}, {with_token} with a working token."


def build_members_page(reader: Membership) -> MembersPage:
    """Return all members of the reader's team in the order of joining; two queries."""
    tokens = load_token_statuses(reader)
    rows = reader.team.memberships.select_related("user")
    return MembersPage(
        members=tuple(build_member_row(row, reader, tokens) for row in rows),
        roles=build_role_choices(frozenset(Role)),
        time_zone=reader.team.tenant.time_zone.replace("_", " "),
        may_set_zone=role_allows(reader.role, Permission.MANAGE_TEAM),
    )


def load_token_statuses(reader: Membership) -> dict[int, TokenStatus]:
    tokens = (
        Token.objects.not_removed().filter(tenant=reader.team.tenant_id).select_related("account")
    )
    best_last = sorted(tokens, key=token_sort_key)
    return {token.owner_id: build_token_status(token) for token in best_last}


def token_sort_key(token: Token) -> tuple[bool, bool, int]:
    """Return a higher key for the token whose status is shown for its member."""
    usable = token.account.is_of_current_upstream
    return usable, token_vault.can_decrypt(token), -TOKEN_STATE_RANKS[token.state]


def build_member_row(
    row: Membership, reader: Membership, tokens: dict[int, TokenStatus]
) -> MemberRow:
    others = assignable_roles(reader.role, row.role)
    return MemberRow(
        id=row.pk,
        name=str(row.user),
        initials=row.user.initials,
        email=row.user.email,
        is_me=row.pk == reader.pk,
        role=row.get_role_display(),
        joined_at=row.joined_at,
        token=tokens.get(row.user_id, NO_TOKEN_STATUS),
        roles=build_role_choices(others | {Role(row.role)}, row.role) if others else (),
    )


def build_role_choices(allowed: frozenset[Role], chosen: str = "") -> tuple[RoleChoice, ...]:
    return tuple(
        RoleChoice(role.value, role.label, ROLE_DESCRIPTIONS[role], role == chosen)
        for role in Role
        if role in allowed
    )
