"""Whether a member's role has a permission."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404

from dashboard.models import Membership, User
from dashboard.shared.roles import Permission, role_allows

PERMISSION_MESSAGES: dict[Permission, str] = {
    Permission.VIEW: "Only team members can see this.",
    Permission.RENDER: (
        "Your role can view videos but not create them. An owner or admin can change your role."
    ),
    Permission.RECHECK: (
        "Your role can view only; it cannot request a check. An owner or admin can change your "
        "role."
    ),
    Permission.KEEP_TOKEN: "Your role cannot add a token. An owner or admin can change your role.",
    Permission.MANAGE_MONEY: "Only treasurers and owners can change money settings.",
    Permission.MANAGE_MEMBERS: "Only owners and admins can manage members.",
    Permission.MANAGE_TEAM: "Only owners can change the team.",
    Permission.SET_BRAND_KIT: "Only owners and admins can change the brand kit.",
    Permission.VIEW_AUDIT: "Only owners, admins and treasurers can read the audit log.",
    Permission.MANAGE_SECURITY: "Only owners and admins can change how people sign in.",
    Permission.OPERATE: "Only owners and admins can operate the team.",
}


def check_permission(membership: Membership, permission: Permission) -> None:
    """Raise `PermissionDenied`, with a sentence for the reader, if the role lacks the
    permission."""
    if not role_allows(membership.role, permission):
        raise PermissionDenied(PERMISSION_MESSAGES[permission])


def require_visible(membership: Membership, permission: Permission) -> None:
    """Raise `Http404` if the role lacks the permission: the page does not exist for it."""
    if not role_allows(membership.role, permission):
        raise Http404("This page does not exist for your role.")


def has_permission(membership: Membership, permission: Permission) -> bool:
    return role_allows(membership.role, permission)


def require_operator(user: User) -> None:
    """Raise `Http404` unless the user operates the installation: the page does not exist for
    others."""
    if not user.is_superuser:
        raise Http404("This page does not exist for your account.")
