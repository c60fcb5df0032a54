"""What happens to a team and its members: their roles, its time zone."""

from __future__ import annotations

from zoneinfo import available_timezones

from django.core.exceptions import PermissionDenied
from django.db import transaction

from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.models import Membership, Role
from dashboard.roles import Permission, grantable
from proxyapi import tasks
from proxyapi.day_sums import WANTED
from proxyapi.models import Account, Ledger, Vault
from proxyapi.refusals import Refusal, Stale

OWNERS_ONLY = "Only an owner makes owners, and only an owner changes one."
LAST_OWNER = "The team needs an owner. Make somebody else one first."
GONE = "This member has left the team meanwhile."
NO_ZONE = "There is no such time zone. Choose one of the list, such as Europe/Berlin."


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


@transaction.atomic
def set_zone(*, by: Membership, name: str) -> bool:
    """Tell the team's days in another time zone; False when it is the one they are told in.

    Budgets count by it from now on; the ledger's days are counted anew in the background. Raises
    PermissionDenied, and `Refusal` for what is no time zone.
    """
    check(by, Permission.MANAGE_TEAM)
    if name not in available_timezones():
        raise Refusal(NO_ZONE, field="time_zone")
    # Whoever adds a row of the vault's meanwhile has no need to wait.
    vault = Vault.objects.select_for_update(no_key=True).get(pk=by.team.vault_id)
    if vault.time_zone == name:
        return False
    note(by, "team.zone", by.team_id, before=vault.time_zone, after=name)
    vault.time_zone = name
    vault.save(update_fields=["time_zone"])
    # Even where it is the zone of before again: meanwhile days were counted in another.
    Ledger.objects.filter(account__vault=vault).update(sums_zone=WANTED)
    for account_id in Account.objects.filter(vault=vault).values_list("pk", flat=True):
        tasks.ring(tasks.recount_days, account_id)
    return True
