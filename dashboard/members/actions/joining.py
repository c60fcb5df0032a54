"""Join a team by an invitation, with an existing account or a new one."""

from __future__ import annotations

from typing import TypeGuard

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from dashboard.models import (
    AuditAction,
    Invitation,
    InvitationState,
    Membership,
    Role,
    User,
    hash_invitation_key,
)
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.new_members import give_new_member_budget
from dashboard.shared.notices import notify_users
from dashboard.shared.pending_rights import inviter_may_invite
from dashboard.shared.roles import MANAGING_PERMISSIONS, role_allows
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import StaleData

INVITATION_ENDED = "This invitation was used or revoked meanwhile."
ANOTHER_ADDRESS = "This invitation is for another address."
DEACTIVATED_HERE = "You are deactivated in this team. An owner or admin can reactivate you."


def find_opened_invitation(key: str) -> Invitation | None:
    """Return the invitation of a link, and note that it was opened; None for an unknown key."""
    invitation = find_invitation_by_hash(hash_invitation_key(key))
    if invitation and invitation.is_open and invitation.opened_at is None:
        unopened = Invitation.objects.filter(pk=invitation.pk, opened_at=None)
        unopened.update(opened_at=timezone.now())
    return invitation


def find_invitation_by_hash(key_hash: str) -> Invitation | None:
    if not key_hash:
        return None
    invitations = Invitation.objects.select_related("team__tenant", "invited_by")
    return invitations.filter(key_hash=key_hash).first()


def can_be_accepted(invitation: Invitation | None) -> TypeGuard[Invitation]:
    return invitation is not None and invitation.is_open and inviter_may_invite(invitation)


@transaction.atomic
@append_audit_rows_last()
def accept_invitation(*, invitation: Invitation, user: User) -> Membership:
    """Make the user a member with the invitation's role; a member already keeps theirs.

    Raises `StaleData` if the invitation ended, was sent again, or is for another address, if its
    inviter could not send it any more, and if the user is deactivated in the team: an invitation
    does not reactivate.
    """
    rows = Invitation.objects.select_for_update(of=("self",))
    rows = rows.select_related("team__tenant", "invited_by")
    row = rows.get(pk=invitation.pk)
    if not can_be_accepted(row) or row.key_hash != invitation.key_hash:
        raise StaleData(INVITATION_ENDED)
    if user.email != row.address:
        raise StaleData(ANOTHER_ADDRESS)
    if (
        Membership.with_deactivated.filter(team=row.team, user=user)
        .exclude(deactivated_at=None)
        .exists()
    ):
        raise StaleData(DEACTIVATED_HERE)
    membership, is_new = Membership.objects.get_or_create(
        team=row.team, user=user, defaults={"role": row.role}
    )
    row.accepted_by = user
    row.end(InvitationState.ACCEPTED)
    after = {"address": row.address, "role": membership.role}
    record_audit_event(membership, AuditAction.INVITATION_ACCEPT, row.pk, after=after)
    if is_new:
        give_new_member_budget(membership)
        notify_of_new_member(membership, row)
    publish_event(row.team.tenant_id, EventType.MEMBER, row.team_id)
    return membership


def notify_of_new_member(membership: Membership, invitation: Invitation) -> None:
    """Notify who invited them; also the owners, as of any role that manages people or money."""
    concerned = Q(user=invitation.invited_by)
    if any(role_allows(membership.role, permission) for permission in MANAGING_PERMISSIONS):
        concerned |= Q(role=Role.OWNER)
    members = invitation.team.memberships.filter(concerned).exclude(pk=membership.pk)
    role, inviter = membership.get_role_display().lower(), invitation.invited_by
    notify_users(
        invitation.team,
        [member.user for member in members.select_related("user")],
        title=f"{membership.user} joined {invitation.team}",
        text=f"They accepted the invitation of {inviter} and have the role {role}.",
        url=reverse("members"),
    )


def create_invited_user(*, invitation: Invitation, name: str, password: str) -> User | None:
    """Return a new user with the invited address; None if the address has an account, whose owner
    must sign in. The password is hashed in both cases, so that the time reveals nothing.

    An account that was disabled because it left its last team is enabled again with the new
    password: the link was sent to its mailbox, like one to reset the password.
    """
    password_hash = make_password(password)
    existing_user = User.objects.filter(email=invitation.address).first()
    if existing_user is None:
        new_user = User(email=invitation.address, name=name, password=password_hash)
        return save_new_user(new_user)
    if existing_user.is_active or Membership.with_deactivated.filter(user=existing_user).exists():
        return None
    existing_user.name, existing_user.password = name, password_hash
    existing_user.is_active = True
    existing_user.save(update_fields=["name", "password", "is_active"])
    return existing_user


def save_new_user(user: User) -> User | None:
    """Return None if the same form created the account a moment ago."""
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError:
        return None
    return user
