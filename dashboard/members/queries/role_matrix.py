"""What each role may do, as a table."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models import Role
from dashboard.shared.roles import Permission, role_allows

SHOWN_ROLES = (Role.VIEWER, Role.PRODUCER, Role.TREASURER, Role.ADMIN, Role.OWNER)
# What a permission lets a person do, and what limits it.
SHOWN_PERMISSIONS: dict[Permission, tuple[str, str]] = {
    Permission.VIEW: ("See videos, costs and the ledger", ""),
    Permission.RENDER: ("Make and render videos", "charges credits, within budgets"),
    Permission.KEEP_TOKEN: ("Add an own API token", ""),
    Permission.MANAGE_MONEY: ("Budgets, auto top-up, approvals", ""),
    Permission.MANAGE_MEMBERS: ("Members and invitations", ""),
    Permission.MANAGE_TEAM: ("Time zone and ownership", ""),
}


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """`allowed` has one value for each of `SHOWN_ROLES`."""

    label: str
    limit: str
    allowed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class RoleMatrix:
    roles: tuple[str, ...]
    rows: tuple[PermissionRow, ...]


def build_role_matrix() -> RoleMatrix:
    rows = (
        PermissionRow(label, limit, tuple(role_allows(role, permission) for role in SHOWN_ROLES))
        for permission, (label, limit) in SHOWN_PERMISSIONS.items()
    )
    return RoleMatrix(tuple(role.label for role in SHOWN_ROLES), tuple(rows))
