"""Reset the two-factor sign-in of a member who lost their device and their recovery codes."""

from __future__ import annotations

from collections.abc import Sequence

from allauth.mfa.models import Authenticator
from django.db import transaction

from dashboard.members.actions.removal import check_can_remove_member
from dashboard.models import AuditAction, Membership, User
from dashboard.shared.access import check_permission
from dashboard.shared.account_changes import AccountChange, mail_account_change
from dashboard.shared.audit_log import (
    AuditActor,
    append_audit_rows_last,
    person_actor,
    record_audit_event,
    system_actor,
)
from dashboard.shared.roles import Permission
from dashboard.shared.second_factor import has_second_factor
from dashboard.shared.user_sessions import delete_sessions
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal

NO_SECOND_FACTOR = "{name} has no two-factor sign-in to reset."
IN_OTHER_TEAM = (
    "{name} is also in another team, which this would concern. Only the operator of the portal can "
    "reset it, with manage.py reset_second_factor."
)


@transaction.atomic
@append_audit_rows_last()
def reset_second_factor(*, by: Membership, member: Membership) -> None:
    """Remove the member's app, passkeys and recovery codes, sign them out everywhere, and mail
    them.

    Raises PermissionDenied, and `Refusal` for a member of another team: its owners would not know
    that one of them signs in by password alone.
    """
    check_permission(by, Permission.MANAGE_MEMBERS)
    check_can_remove_member(by, member)
    name = str(member.user)
    if not has_second_factor(member.user):
        raise Refusal(NO_SECOND_FACTOR.format(name=name))
    if member.user.memberships.exclude(pk=member.pk).exists():
        raise Refusal(IN_OTHER_TEAM.format(name=name))
    remove_second_factors(member.user, [person_actor(by)], str(by.user))


@transaction.atomic
@append_audit_rows_last()
def reset_second_factor_by_command(user: User) -> None:
    """Do the same for a person of any teams, on behalf of the operator. Raises `Refusal`."""
    if not has_second_factor(user):
        raise Refusal(NO_SECOND_FACTOR.format(name=user))
    memberships = user.memberships.select_related("team").order_by("team_id")
    actors = [system_actor(row.team, "manage.py reset_second_factor") for row in memberships]
    remove_second_factors(user, actors, "The operator of the portal")


def remove_second_factors(user: User, actors: Sequence[AuditActor], by_name: str) -> None:
    """Each actor stands for a team in whose audit log it is recorded."""
    removed = Authenticator.objects.filter(user=user).order_by("pk")
    before = {"factors": ", ".join(str(row.get_type_display()) for row in removed)}
    removed.delete()
    ended = delete_sessions(user)
    for actor in actors:
        record_audit_event(
            actor, AuditAction.SECOND_FACTOR_RESET, user.pk, before=before, sessions=ended
        )
        publish_event(actor.team.tenant_id, EventType.MEMBER, actor.team.pk)
    mail_account_change(user, AccountChange.SECOND_FACTOR_RESET, by_name)
