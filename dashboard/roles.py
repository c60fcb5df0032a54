"""What a member may do: permissions, and the roles that are lists of them."""

from __future__ import annotations

from enum import StrEnum

from dashboard.models import Role


class Permission(StrEnum):
    SEE = "see"  # the library, the team, the credits
    RENDER = "render"  # make, render, retry: whatever charges
    LOOK_AGAIN = "look_again"  # have the service asked once more: a request, no credits
    KEEP_TOKEN = "keep_token"  # noqa: S105 - a permission's name
    MANAGE_MONEY = "manage_money"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_TEAM = "manage_team"


ROLES: dict[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(
        {
            Permission.SEE,
            Permission.RENDER,
            Permission.LOOK_AGAIN,
            Permission.KEEP_TOKEN,
            Permission.MANAGE_MEMBERS,
        }
    ),
    Role.TREASURER: frozenset(
        {Permission.SEE, Permission.LOOK_AGAIN, Permission.KEEP_TOKEN, Permission.MANAGE_MONEY}
    ),
    Role.PRODUCER: frozenset(
        {Permission.SEE, Permission.RENDER, Permission.LOOK_AGAIN, Permission.KEEP_TOKEN}
    ),
    Role.VIEWER: frozenset({Permission.SEE}),
}

SENTENCES: dict[Role, str] = {
    Role.OWNER: "Everything, and gives the team away.",
    Role.ADMIN: "Makes videos and manages members.",
    Role.TREASURER: "Money and the ledger, no rendering.",
    Role.PRODUCER: "Makes and renders videos.",
    Role.VIEWER: "Looks, and spends nothing.",
}


def allows(role: str, permission: Permission) -> bool:
    return permission in ROLES[Role(role)]


def grantable(role: str) -> frozenset[Role]:
    """The roles that a member with this role may give: never one with a permission that they lack.

    Who manages members gives each of these; who manages money alone gives only roles that do so.
    """
    own = ROLES[Role(role)]
    covered = frozenset(other for other, permissions in ROLES.items() if permissions <= own)
    if Permission.MANAGE_MEMBERS in own:
        return covered
    return frozenset(other for other in covered if allows(other, Permission.MANAGE_MONEY))


def new_roles(role: str, current: str) -> frozenset[Role]:
    """The roles that a member with `role` may give to one who has `current` now: none when that
    one has a permission that they lack themselves."""
    if not ROLES[Role(current)] <= ROLES[Role(role)]:
        return frozenset()
    return grantable(role) - {Role(current)}
