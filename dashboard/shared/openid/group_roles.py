"""The role that a person's groups at the provider give."""

from __future__ import annotations

from collections.abc import Collection

from dashboard.models import Role, SingleSignOn


def role_for_groups(single_sign_on: SingleSignOn, groups: Collection[str]) -> Role | None:
    """Return the role of the first listed group that the person has, else the default role; None
    refuses the person."""
    for row in single_sign_on.role_groups.order_by("position"):
        if row.group in groups:
            return Role(row.role)
    return Role(single_sign_on.default_role) if single_sign_on.default_role else None
