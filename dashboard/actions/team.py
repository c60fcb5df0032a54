"""What happens to the members of a team: their roles."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db import transaction

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Membership, Role
from dashboard.roles import Permission, grantable
from proxyapi.refusals import Refusal, Stale

OWNERS_ONLY = "Only an owner makes owners, and only an owner changes one."
LAST_OWNER = "The team needs an owner. Make somebody else one first."
GONE = "This member has left the team meanwhile."


@transaction.atomic
def change_role(*, by: Membership, member: Membership, role: Role) -> bool:
    """Give a member of the same team another role; False when they have it already.

    Raises PermissionDenied when `by` may not, `Refusal` when it would leave the team ownerless.
    """
    check(by, Permission.MANAGE_MEMBERS)
    # The owners are locked too: two owners who demote each other at once must not both succeed.
    rows = Membership.objects.select_for_update().filter(team=by.team)
    members = {row.pk: row for row in rows.order_by("pk")}
    current = members.get(member.pk)
    if current is None:
        raise Stale(GONE, field="role")
    if current.role == role:
        return False
    if not {Role(current.role), role} <= grantable(by.role):
        raise PermissionDenied(OWNERS_ONLY)
    owners = [row for row in members.values() if row.role == Role.OWNER]
    if owners == [current]:
        raise Refusal(LAST_OWNER, field="role")
    note(by, "member.role", member.user_id, before=current.role, after=role)
    current.role = role
    current.save(update_fields=["role"])
    return True
