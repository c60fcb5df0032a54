"""Permissions, and the roles that consist of them."""

from __future__ import annotations

from enum import StrEnum

from dashboard.models import Role


class Permission(StrEnum):
    VIEW = "see"  # the library, the team and the credits
    RENDER = "render"  # create, render, retry: every charging operation
    RECHECK = "recheck"  # poll the service: takes a request, no credits
    KEEP_TOKEN = "keep_token"  # noqa: S105 - a permission's name
    MANAGE_MONEY = "manage_money"
    MANAGE_MEMBERS = "manage_members"
    MANAGE_TEAM = "manage_team"
    SET_BRAND_KIT = "set_brand_kit"
    VIEW_AUDIT = "view_audit"  # entries about money; all of them with OPERATE
    MANAGE_SECURITY = "manage_security"  # second factor, domains, sessions, single sign-on
    OPERATE = "operate"  # the whole audit log, operations, the stop of all charges


ROLE_PERMISSIONS: dict[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: frozenset(
        {
            Permission.VIEW,
            Permission.RENDER,
            Permission.RECHECK,
            Permission.KEEP_TOKEN,
            Permission.MANAGE_MEMBERS,
            Permission.SET_BRAND_KIT,
            Permission.VIEW_AUDIT,
            Permission.MANAGE_SECURITY,
            Permission.OPERATE,
        }
    ),
    Role.TREASURER: frozenset(
        {
            Permission.VIEW,
            Permission.RECHECK,
            Permission.KEEP_TOKEN,
            Permission.MANAGE_MONEY,
            Permission.VIEW_AUDIT,
        }
    ),
    Role.PRODUCER: frozenset(
        {Permission.VIEW, Permission.RENDER, Permission.RECHECK, Permission.KEEP_TOKEN}
    ),
    Role.VIEWER: frozenset({Permission.VIEW}),
}

# A role with one of these can harm the team: it is given with a recent password, owners are told.
MANAGING_PERMISSIONS = (Permission.MANAGE_MEMBERS, Permission.MANAGE_MONEY)

ROLE_DESCRIPTIONS: dict[Role, str] = {
    Role.OWNER: "Full access, including team ownership.",
    Role.ADMIN: "Creates videos and manages members.",
    Role.TREASURER: "Manages money and the ledger; cannot render.",
    Role.PRODUCER: "Creates and renders videos.",
    Role.VIEWER: "Can view everything; cannot spend credits.",
}


def role_allows(role: str, permission: Permission) -> bool:
    return permission in ROLE_PERMISSIONS[Role(role)]


def grantable_roles(role: str) -> frozenset[Role]:
    """Return the roles that a member with this role may give: never one with a permission that they
    lack.

    A member who manages members may give all of these; a member who only manages money, only the
    roles that manage money.
    """
    own = ROLE_PERMISSIONS[Role(role)]
    covered = frozenset(
        other for other, permissions in ROLE_PERMISSIONS.items() if permissions <= own
    )
    if Permission.MANAGE_MEMBERS in own:
        return covered
    return frozenset(other for other in covered if role_allows(other, Permission.MANAGE_MONEY))


def invitable_roles(role: str) -> frozenset[Role]:
    """Return the roles that a member with this role may invite people with; ownership is never
    given by a link."""
    if not role_allows(role, Permission.MANAGE_MEMBERS):
        return frozenset()
    return grantable_roles(role) - {Role.OWNER}


def assignable_roles(role: str, current: str) -> frozenset[Role]:
    """Return the roles that a member with `role` may give to a member with `current`; none if that
    member has a permission that they lack."""
    if not ROLE_PERMISSIONS[Role(current)] <= ROLE_PERMISSIONS[Role(role)]:
        return frozenset()
    return grantable_roles(role) - {Role(current)}
