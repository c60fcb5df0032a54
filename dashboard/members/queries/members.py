"""The data of the members page: the members, their tokens and what they spent this month."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from dashboard.members.queries.invitations import InvitationList, load_invitations
from dashboard.members.queries.ownership import TeamOwnership, load_team_ownership
from dashboard.members.queries.role_matrix import build_role_matrix
from dashboard.models import Membership, Role, SingleSignOnLink
from dashboard.shared.access import can_pause_charges
from dashboard.shared.budget_usage import load_month_spend
from dashboard.shared.filter_chips import FilterChip, build_filter_chip
from dashboard.shared.query_params import (
    PageFilters,
    allowed_or_empty,
    parse_search_text,
    parse_small_int,
)
from dashboard.shared.roles import (
    ROLE_DESCRIPTIONS,
    Permission,
    assignable_roles,
    grantable_roles,
    role_allows,
)
from dashboard.shared.second_factor import SecondFactor, load_second_factors
from dashboard.shared.token_status import TokenStatus, build_token_status
from proxyapi.credentials import token_vault
from proxyapi.models import Token

# If a member has several tokens, the one with the lowest rank is shown.
TOKEN_STATE_RANKS = {"working": 0, "paused": 1, "revoked": 2}
NO_TOKEN_STATUS = TokenStatus("draft", "No token")
TOKEN_NOT_NEEDED = TokenStatus("", "Not needed")  # the role cannot add one
MIN_MEMBERS_FOR_FILTERS = 21
MEMBERS_PER_PAGE = 50
TOKEN_OPTIONS = {"": "any", "working": "working", "stopped": "stopped", "none": "none"}
NO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class MemberFilters(PageFilters):
    PAGE: ClassVar[str] = "members"
    CURSOR: ClassVar[str] = "offset"

    search: str = ""
    role: str = ""
    token: str = ""
    offset: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.role or self.token)


@dataclass(frozen=True, slots=True)
class RoleChoice:
    value: str
    label: str
    sentence: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class MemberRow:
    """`roles` is empty if the reader may not change this member's role, or if the team would have
    no owner. `second_factor` is None for readers who do not manage members; `activity_url` is empty
    for those who do not read the audit log."""

    id: int
    name: str
    initials: str
    email: str
    is_me: bool
    role: str
    joined_at: datetime
    token: TokenStatus
    second_factor: SecondFactor | None
    spent: Decimal
    spend_url: str
    activity_url: str
    roles: tuple[RoleChoice, ...]
    may_remove: bool
    may_request_token: bool
    may_reset_factor: bool
    may_unlink: bool
    deactivated_at: datetime | None
    may_deactivate: bool
    may_reactivate: bool
    charges_paused_at: datetime | None
    may_pause: bool  # charges, and allow them again

    @property
    def may_hand_over(self) -> bool:
        return self.may_remove and self.deactivated_at is None


@dataclass(frozen=True, slots=True)
class MembersPage:
    """`members` are those of this page of the filtered list; the figures are of the whole team."""

    members: tuple[MemberRow, ...]
    filters: MemberFilters
    chips: tuple[FilterChip, ...]
    total: int
    with_token: int
    month: str
    spent: Decimal
    refresh_url: str
    next_url: str
    first_url: str
    matrix: dict[str, Any]
    invitations: InvitationList | None
    ownership: TeamOwnership
    may_change_roles: bool
    may_manage: bool
    time_zone: str
    may_set_zone: bool

    @property
    def note(self) -> str:
        invitations = self.invitations.sentence if self.invitations else ""
        return f"{self.token_sentence} {invitations}".strip()

    @property
    def token_sentence(self) -> str:
        if self.total == 1:
            return f"One person, {'with' if self.with_token else 'without'} a working token."
        count = {0: "none", self.total: "all"}.get(self.with_token, str(self.with_token))
        return f"{self.total} people, {count} with a working token."

    @property
    def has_filters(self) -> bool:
        return self.total >= MIN_MEMBERS_FOR_FILTERS


def parse_member_filters(query: Mapping[str, str]) -> MemberFilters:
    """Invalid values are ignored."""
    return MemberFilters(
        search=parse_search_text(query),
        role=allowed_or_empty(query.get("role", ""), Role.values),
        token=allowed_or_empty(query.get("token", ""), TOKEN_OPTIONS),
        offset=parse_small_int(query.get("offset", "")) or None,
    )


def build_members_page(reader: Membership, filters: MemberFilters) -> MembersPage:
    """Return the members in the order of joining; seven queries."""
    rows = load_member_rows(reader)
    found = [row for row in rows if is_member_match(row, filters)]
    start = filters.offset or 0
    has_more = len(found) > start + MEMBERS_PER_PAGE
    return MembersPage(
        members=tuple(found[start : start + MEMBERS_PER_PAGE]),
        filters=filters,
        chips=tuple(build_member_chips(filters)),
        total=sum(row.deactivated_at is None for row in rows),
        with_token=sum(row.token.works and row.deactivated_at is None for row in rows),
        month=f"{timezone.localtime(timezone=reader.team.tenant.zone):%B}",
        spent=sum((row.spent for row in rows), NO_CREDITS),
        refresh_url=filters.url(offset=filters.offset),
        next_url=filters.url(offset=start + MEMBERS_PER_PAGE) if has_more else "",
        first_url=filters.url() if start else "",
        matrix=build_role_matrix(),
        invitations=load_invitations(reader),
        ownership=load_team_ownership(reader),
        may_change_roles=bool(grantable_roles(reader.role)),
        may_manage=role_allows(reader.role, Permission.MANAGE_MEMBERS),
        time_zone=reader.team.tenant.time_zone.replace("_", " "),
        may_set_zone=role_allows(reader.role, Permission.MANAGE_TEAM),
    )


def load_member_rows(reader: Membership) -> list[MemberRow]:
    """Return the rows of all members, the deactivated ones last; four queries."""
    tokens = load_token_statuses(reader)
    spent = load_month_spend(reader.team, timezone.now())
    links = SingleSignOnLink.objects.filter(
        user=OuterRef("user_id"), single_sign_on__team=OuterRef("team_id")
    )
    rows = Membership.with_deactivated.filter(team=reader.team).annotate(is_linked=Exists(links))
    rows = rows.select_related("user")
    members = sorted(rows, key=lambda row: row.deactivated_at is not None)
    owners = [row for row in members if row.role == Role.OWNER and row.deactivated_at is None]
    factors: dict[int, SecondFactor] = {}
    if role_allows(reader.role, Permission.MANAGE_MEMBERS):
        factors = load_second_factors(row.user_id for row in members)
    return [
        build_member_row(
            row,
            reader,
            tokens,
            factors.get(row.user_id),
            spent.get(row.user_id, NO_CREDITS),
            is_only_owner=owners == [row],
            is_linked=row.is_linked,
        )
        for row in members
    ]


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
    row: Membership,
    reader: Membership,
    tokens: dict[int, TokenStatus],
    second_factor: SecondFactor | None,
    spent: Decimal,
    *,
    is_only_owner: bool,
    is_linked: bool,
) -> MemberRow:
    others = assignable_roles(reader.role, row.role)
    is_active = row.deactivated_at is None
    may_change = bool(others) and not is_only_owner and is_active
    may_manage = bool(others) and role_allows(reader.role, Permission.MANAGE_MEMBERS)
    keeps_token = role_allows(row.role, Permission.KEEP_TOKEN)
    may_view_audit = role_allows(reader.role, Permission.VIEW_AUDIT)
    token = tokens.get(row.user_id, NO_TOKEN_STATUS if keeps_token else TOKEN_NOT_NEEDED)
    return MemberRow(
        id=row.pk,
        name=str(row.user),
        initials=row.user.initials,
        email=row.user.email,
        is_me=row.pk == reader.pk,
        role=row.get_role_display(),
        joined_at=row.joined_at,
        token=token,
        second_factor=second_factor,
        spent=spent,
        spend_url=f"{reverse('ledger')}?member={row.user_id}",
        activity_url=f"{reverse('audit')}?who={row.user_id}" if may_view_audit else "",
        roles=build_role_choices(others | {Role(row.role)}, row.role) if may_change else (),
        may_remove=may_manage,
        may_request_token=may_manage
        and is_active
        and keeps_token
        and not token.works
        and row.pk != reader.pk,
        deactivated_at=row.deactivated_at,
        may_deactivate=may_manage and is_active and not is_only_owner and row.pk != reader.pk,
        may_reactivate=may_manage and not is_active,
        charges_paused_at=row.charges_paused_at,
        may_pause=is_active and can_pause_charges(reader, row),
        may_reset_factor=may_manage and second_factor != SecondFactor.OFF and row.pk != reader.pk,
        may_unlink=is_linked and role_allows(reader.role, Permission.MANAGE_TEAM),
    )


def build_role_choices(allowed: frozenset[Role], chosen: str = "") -> tuple[RoleChoice, ...]:
    return tuple(
        RoleChoice(role.value, role.label, ROLE_DESCRIPTIONS[role], role == chosen)
        for role in Role
        if role in allowed
    )


def is_member_match(row: MemberRow, filters: MemberFilters) -> bool:
    words = filters.search.casefold().split()
    text = f"{row.name} {row.email}".casefold()
    return (
        all(word in text for word in words)
        and filters.role in ("", row.role.lower())
        and filters.token in ("", token_option(row.token))
    )


def token_option(status: TokenStatus) -> str:
    if status.works:
        return "working"
    return "none" if status in (NO_TOKEN_STATUS, TOKEN_NOT_NEEDED) else "stopped"


def build_member_chips(filters: MemberFilters) -> Iterable[FilterChip]:
    roles = {role.value: role.label for role in Role}
    yield build_filter_chip("role", "Role", {"": "any", **roles}, filters)
    yield build_filter_chip("token", "Token", TOKEN_OPTIONS, filters)
