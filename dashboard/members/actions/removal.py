"""A member leaves a team: tokens, requests and what was not sent end; what they made stays.

It is done from the command line, which is what the audit log names. Requests are locked before
accounts, as in `approval_requests`.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import transaction

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    Budget,
    Membership,
    Role,
    User,
)
from dashboard.shared.approvals import close_request, lock_pending_request
from dashboard.shared.audit_log import (
    AuditActor,
    append_audit_rows_last,
    record_audit_event,
    system_actor,
)
from proxyapi import token_failover, tokens
from proxyapi.charges import cancel_held_charge
from proxyapi.models import Charge, ChargeState, Job, JobState, Token
from proxyapi.models.charge import UNDECIDED_STATES
from proxyapi.refusals import Refusal

LAST_OWNER = "{name} is the last owner of {team}. Make somebody else an owner first."
REQUESTER_LEFT = "{name} left the team before it was decided. Nothing was sent."
LEFT_BEFORE_SENDING = "{name} left the team before it was sent. Nothing was charged."


@dataclass(frozen=True, slots=True)
class MemberRemoval:
    """What was ended, and what goes on without the member."""

    tokens: int  # removed
    requests: int  # for approval, withdrawn
    cancelled: int  # charges that were held and not sent
    moved_drafts: int  # to the token that a colleague has for the same account
    unsettled: int  # charges that were sent and whose outcome is not known yet
    rendering: tuple[str, ...]  # titles of videos that run on the removed tokens
    has_other_team: bool


@transaction.atomic
@append_audit_rows_last()
def remove_member(member: Membership) -> MemberRemoval:
    """End a membership, with everything that acts in the member's name.

    Who has no other team cannot sign in any more, and is signed out everywhere. Raises `Refusal`
    for the last owner.
    """
    # All owners are locked: two of them who leave at once must not both succeed.
    owners = member.team.memberships.select_for_update().filter(role=Role.OWNER)
    if [owner.pk for owner in owners] == [member.pk]:
        raise Refusal(LAST_OWNER.format(name=member.user, team=member.team))
    actor = system_actor(member.team, "manage.py remove_member")
    requests = withdraw_member_requests(member, actor)
    cancelled = cancel_unsent_charges(member)
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    rendering = running_video_titles(member)
    removed = remove_all_member_tokens(member, actor)
    moved = token_failover.move_drafts_to_colleagues(member.team.tenant_id, member.user_id)
    Budget.objects.filter(team=member.team, member=member.user).update(active=False)
    has_other_team = member.user.memberships.exclude(pk=member.pk).exists()
    if not has_other_team:
        disable_user(member.user)
    removal = MemberRemoval(
        tokens=removed,
        requests=requests,
        cancelled=cancelled,
        moved_drafts=moved,
        unsettled=charges.filter(state__in=UNDECIDED_STATES).count(),
        rendering=rendering,
        has_other_team=has_other_team,
    )
    record_audit_event(
        actor,
        AuditAction.MEMBER_REMOVE,
        member.user_id,
        before={"name": str(member.user), "role": member.role, "tokens": removed},
    )
    member.delete()
    return removal


def withdraw_member_requests(member: Membership, actor: AuditActor) -> int:
    requests = list(ApprovalRequest.objects.pending().filter(team=member.team, member=member.user))
    for request in requests:
        close_request(
            member,
            lock_pending_request(request),
            ApprovalDecision.WITHDRAWN,
            REQUESTER_LEFT.format(name=member.user),
            recorded_as=actor,
        )
    return len(requests)


def cancel_unsent_charges(member: Membership) -> int:
    """What a worker has taken by now is settled by its answer."""
    held = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    held = held.filter(state=ChargeState.HELD).order_by("account_id", "pk")
    sentence = LEFT_BEFORE_SENDING.format(name=member.user)
    return sum(
        cancel_held_charge(charge, sentence) for charge in held.select_related("account", "job")
    )


def running_video_titles(member: Membership) -> tuple[str, ...]:
    running = Job.objects.filter(tenant=member.team.tenant_id, state=JobState.RUNNING)
    running = running.filter(token__owner=member.user).order_by("created_at", "pk")
    return tuple(running.values_list("title", flat=True))


def remove_all_member_tokens(member: Membership, actor: AuditActor) -> int:
    standing = Token.objects.not_removed().filter(tenant=member.team.tenant_id, owner=member.user)
    removed = list(standing.order_by("account_id", "pk"))
    for token in removed:
        tokens.destroy_token(token)
        before = {"fingerprint": token.fingerprint, "owner": member.user.email}
        record_audit_event(actor, AuditAction.TOKEN_REMOVE, token.pk, before=before)
    return len(removed)


def disable_user(user: User) -> None:
    """They cannot sign in any more, and no browser stays signed in as them."""
    user.is_active = False
    user.save(update_fields=["is_active"])
    sessions = Session.objects.iterator()
    theirs = [one.pk for one in sessions if one.get_decoded().get(SESSION_KEY) == str(user.pk)]
    Session.objects.filter(pk__in=theirs).delete()
