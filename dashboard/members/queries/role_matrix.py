"""What each role may do, as a table of all permissions."""

from __future__ import annotations

from typing import Any

from dashboard.models import Role
from dashboard.shared.roles import Permission, role_allows

SHOWN_ROLES = (Role.VIEWER, Role.PRODUCER, Role.TREASURER, Role.ADMIN, Role.OWNER)
# What a permission lets a person do, and what limits or explains it. Each permission has a label.
PERMISSION_LABELS: dict[Permission, tuple[str, str]] = {
    Permission.VIEW: ("See videos, costs and the ledger", ""),
    Permission.RENDER: ("Make and render videos", "charges credits, within budgets"),
    Permission.RECHECK: ("Check videos and charges at the service", "free"),
    Permission.KEEP_TOKEN: ("Add an own API token", ""),
    Permission.MANAGE_MONEY: (
        "Change budgets and auto top-up, decide approvals",
        "pause API keys and charges of members",
    ),
    Permission.MANAGE_MEMBERS: ("Invite, remove and deactivate members", ""),
    Permission.MANAGE_TEAM: ("Change time zone, ownership and single sign-on", ""),
    Permission.SET_BRAND_KIT: ("Change the brand kit", ""),
    Permission.VIEW_AUDIT: ("Read the audit log", "a treasurer: entries about money"),
    Permission.MANAGE_SECURITY: (
        "Change how people sign in",
        "two-factor, e-mail domains, sessions",
    ),
    Permission.OPERATE: ("See operations, stop all charges", "or those of one member"),
}


def build_role_matrix() -> dict[str, Any]:
    """Return the labels of the roles, and for each permission whether each of them has it."""
    rows = []
    for permission in Permission:
        label, limit = PERMISSION_LABELS[permission]
        allowed = [role_allows(role, permission) for role in SHOWN_ROLES]
        rows.append({"label": label, "limit": limit, "allowed": allowed})
    return {"roles": [role.label for role in SHOWN_ROLES], "rows": rows}
