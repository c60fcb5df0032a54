"""Who owns the team, and the transfer of its ownership that waits for an answer."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from dashboard.models import Membership, Role
from dashboard.shared.formatting import clock
from dashboard.shared.roles import Permission, role_allows
from dashboard.shared.second_factor import SecondFactor, load_second_factors


@dataclass(frozen=True, slots=True)
class OwnerRow:
    name: str
    initials: str
    email: str


@dataclass(frozen=True, slots=True)
class PendingTransfer:
    """`is_for_reader`: the reader was asked, else they are an owner."""

    id: UUID
    giver: str
    receiver: str
    until: str
    is_for_reader: bool


@dataclass(frozen=True, slots=True)
class TeamOwnership:
    """`pending` is None for readers whom the transfer does not concern."""

    owners: tuple[OwnerRow, ...]
    pending: PendingTransfer | None
    may_transfer: bool


def load_team_ownership(reader: Membership) -> TeamOwnership:
    """Two queries."""
    owners = reader.team.memberships.filter(role=Role.OWNER).select_related("user")
    pending = load_pending_transfer(reader)
    may_manage = role_allows(reader.role, Permission.MANAGE_TEAM)
    return TeamOwnership(
        owners=tuple(OwnerRow(str(row.user), row.user.initials, row.user.email) for row in owners),
        pending=pending,
        may_transfer=may_manage and pending is None,
    )


def load_pending_transfer(reader: Membership) -> PendingTransfer | None:
    transfers = reader.team.ownership_transfers.answerable(timezone.now())
    transfer = transfers.select_related("from_user", "to_user").first()
    may_manage = role_allows(reader.role, Permission.MANAGE_TEAM)
    if transfer is None or not (may_manage or transfer.to_user_id == reader.user_id):
        return None
    return PendingTransfer(
        id=transfer.pk,
        giver=str(transfer.from_user),
        receiver=str(transfer.to_user),
        until=clock(transfer.expires_at),
        is_for_reader=transfer.to_user_id == reader.user_id,
    )


def load_possible_owners(reader: Membership) -> list[Membership]:
    """Return the members who can become owner in the reader's place, admins first: those with a
    second factor."""
    members = reader.team.memberships.exclude(role=Role.OWNER).select_related("user")
    active = list(members.filter(user__is_active=True))
    factors = load_second_factors(row.user_id for row in active)
    able = [row for row in active if factors[row.user_id] != SecondFactor.OFF]
    return sorted(able, key=lambda row: list(Role).index(Role(row.role)))


def is_alone(reader: Membership) -> bool:
    return not reader.team.memberships.exclude(pk=reader.pk).exists()
