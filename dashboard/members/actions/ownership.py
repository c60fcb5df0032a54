"""Transfer the ownership of a team: an owner asks a member, who accepts or declines."""

from __future__ import annotations

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.models import (
    OWNERSHIP_TRANSFER_LIFETIME,
    AuditAction,
    Membership,
    OwnershipTransfer,
    Role,
    TransferState,
)
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, person_actor, record_audit_event
from dashboard.shared.formatting import clock
from dashboard.shared.notices import notify_users
from dashboard.shared.pending_rights import end_what_role_allowed
from dashboard.shared.roles import Permission
from dashboard.shared.second_factor import has_second_factor
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData

ALREADY_ASKED = "{name} was asked already. Withdraw that transfer first."
ALREADY_OWNER = "{name} is an owner already."
SECOND_FACTOR_MISSING = "{name} has no two-factor sign-in. Only a member with it can become owner."
OWN_SECOND_FACTOR_MISSING = "Set up two-factor sign-in on your account page first. Then accept."
ANSWERED_MEANWHILE = "This transfer was answered or withdrawn meanwhile. Nothing was changed."


@transaction.atomic
@append_audit_rows_last()
def request_ownership_transfer(*, by: Membership, to: Membership) -> OwnershipTransfer:
    """Ask a member of the team to become owner; nothing changes before they accept. Both get a
    notice.

    Raises PermissionDenied, and `Refusal` if another transfer waits for its answer, or they have no
    second factor: an owner can do everything.
    """
    check_permission(by, Permission.MANAGE_TEAM)
    lock_team_members(by)
    now, transfers = timezone.now(), by.team.ownership_transfers
    if waiting := transfers.answerable(now).select_related("to_user").first():
        raise Refusal(ALREADY_ASKED.format(name=waiting.to_user), field="to")
    if to.role == Role.OWNER:
        raise Refusal(ALREADY_OWNER.format(name=to.user), field="to")
    if not has_second_factor(to.user):
        raise Refusal(SECOND_FACTOR_MISSING.format(name=to.user), field="to")
    lapsed = transfers.filter(state=TransferState.PENDING)
    lapsed.update(state=TransferState.LAPSED, ended_at=now)
    transfer: OwnershipTransfer = transfers.create(
        from_user=by.user, to_user=to.user, expires_at=now + OWNERSHIP_TRANSFER_LIFETIME
    )
    after = {"to": str(to.user), "expires_at": transfer.expires_at}
    record_audit_event(by, AuditAction.OWNERSHIP_REQUEST, transfer.pk, after=after)
    until = clock(transfer.expires_at)
    notify_both(
        transfer,
        receiver_title=f"{by.user} asks you to become owner of {by.team}",
        receiver_text=f"Accept or decline on the members page, until {until}.",
        giver_title=f"You asked {to.user} to become owner of {by.team}",
        giver_text=f"They have until {until}. Until then nothing changes; you can withdraw it.",
    )
    return transfer


@transaction.atomic
@append_audit_rows_last()
def accept_ownership(*, by: Membership, transfer: OwnershipTransfer) -> None:
    """Make the receiver owner, and the giver admin. Raises `Refusal` if the receiver has no second
    factor any more."""
    members = lock_team_members(by)
    row = lock_transfer(transfer)
    if not has_second_factor(row.to_user):
        raise Refusal(OWN_SECOND_FACTOR_MISSING)
    giver, receiver = members[row.from_user_id], members[row.to_user_id]
    before = {str(row.from_user): giver.role, str(row.to_user): receiver.role}
    receiver.role, giver.role = Role.OWNER, Role.ADMIN
    for member in (receiver, giver):
        member.save(update_fields=["role"])
    row.end(TransferState.ACCEPTED)
    end_what_role_allowed(giver, person_actor(by))
    after = {str(row.from_user): giver.role, str(row.to_user): receiver.role}
    record_audit_event(by, AuditAction.OWNERSHIP_ACCEPT, row.pk, before=before, after=after)
    notify_both(
        row,
        receiver_title=f"You own {by.team} now",
        receiver_text=f"{row.from_user} is an admin now.",
        giver_title=f"{row.to_user} owns {by.team} now",
        giver_text="You are an admin now. Your token and drafts stay yours.",
    )


@transaction.atomic
@append_audit_rows_last()
def decline_ownership(*, by: Membership, transfer: OwnershipTransfer) -> None:
    row = lock_transfer(transfer)
    row.end(TransferState.DECLINED)
    record_audit_event(by, AuditAction.OWNERSHIP_DECLINE, row.pk, before={"to": str(row.to_user)})
    notify_both(
        row,
        giver_title=f"{row.to_user} declined to become owner of {by.team}",
        giver_text="Nothing was changed.",
    )


@transaction.atomic
@append_audit_rows_last()
def take_ownership_back(*, by: Membership, transfer: OwnershipTransfer) -> None:
    check_permission(by, Permission.MANAGE_TEAM)
    row = lock_transfer(transfer)
    row.end(TransferState.TAKEN_BACK)
    record_audit_event(by, AuditAction.OWNERSHIP_WITHDRAW, row.pk, before={"to": str(row.to_user)})
    notify_both(
        row,
        receiver_title=f"{by.user} withdrew the transfer of {by.team}",
        receiver_text="Nothing was changed; there is nothing to answer any more.",
    )


def lock_team_members(by: Membership) -> dict[int, Membership]:
    """Lock all members as a change of role does, and return them by user id."""
    rows = Membership.objects.select_for_update(of=("self",)).filter(team=by.team)
    return {row.user_id: row for row in rows.order_by("pk")}


def lock_transfer(transfer: OwnershipTransfer) -> OwnershipTransfer:
    """Read the transfer again under a lock. Raises `StaleData` if it cannot be answered."""
    rows = OwnershipTransfer.objects.answerable(timezone.now())
    rows = rows.select_for_update(of=("self",)).select_related("from_user", "to_user", "team")
    row = rows.filter(pk=transfer.pk).first()
    if row is None:
        raise StaleData(ANSWERED_MEANWHILE)
    return row


def notify_both(
    transfer: OwnershipTransfer,
    *,
    receiver_title: str = "",
    receiver_text: str = "",
    giver_title: str = "",
    giver_text: str = "",
) -> None:
    """Notify each of both who has a title, in the portal and by e-mail."""
    url = reverse("members")
    for person, title, text in (
        (transfer.to_user, receiver_title, receiver_text),
        (transfer.from_user, giver_title, giver_text),
    ):
        if title:
            notify_users(transfer.team, [person], title=title, text=text, url=url)
    publish_event(transfer.team.tenant_id, EventType.MEMBER, transfer.team_id)
