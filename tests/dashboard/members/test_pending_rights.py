"""What a member began with a role ends with the role: nothing brings them back or acts for them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.members.actions.deactivation import deactivate_member, reactivate_member
from dashboard.members.actions.joining import accept_invitation
from dashboard.members.actions.ownership import request_ownership_transfer
from dashboard.members.actions.removal import remove_member
from dashboard.members.actions.roles import change_member_role
from dashboard.models import ApprovalRequest, AuditEvent, Invitation, Membership, Role
from proxyapi.models import ChargeState
from proxyapi.refusals import StaleData
from tests.dashboard.security.people import give_second_factor
from tests.factories import (
    ChargeFactory,
    InvitationFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
    UserFactory,
)

pytestmark = pytest.mark.postgresql

SECOND_ADDRESS = "jonas.weber@elsewhere.example"


def lower(by: Membership, member: Membership) -> None:
    change_member_role(by=by, member=member, role=Role.PRODUCER)


def deactivate(by: Membership, member: Membership) -> None:
    deactivate_member(by=by, member=member)


def remove(by: Membership, member: Membership) -> None:
    remove_member(member, by=by)


@pytest.fixture
def invitation(jonas: Membership) -> Invitation:
    """Of a second address of Jonas, as admin, by Jonas."""
    row: Invitation = InvitationFactory.create(
        team=jonas.team, address=SECOND_ADDRESS, role=Role.ADMIN, invited_by=jonas.user
    )
    return row


@pytest.mark.parametrize("end", [lower, deactivate, remove])
def test_an_invitation_ends_with_the_right_to_send_it(
    end: Callable[[Membership, Membership], None],
    mira: Membership,
    jonas: Membership,
    invitation: Invitation,
    client: Client,
) -> None:
    by_mira = InvitationFactory.create(team=mira.team, role=Role.ADMIN, invited_by=mira.user)
    end(mira, jonas)
    for row, state in ((invitation, "revoked"), (by_mira, "pending")):
        row.refresh_from_db()
        assert row.state == state
    assert AuditEvent.objects.get(action="invitation.revoke").actor_name == "Mira Sandvik"
    page = client.get(reverse("invitation", args=[f"key-of-{SECOND_ADDRESS}"]), follow=True)
    assert page.status_code == 410


def test_a_link_counts_only_while_its_inviter_could_send_it(
    jonas: Membership, invitation: Invitation, client: Client
) -> None:
    """Even where it was written while the role was taken away."""
    Membership.objects.filter(pk=jonas.pk).update(role=Role.PRODUCER)
    page = client.get(reverse("invitation", args=[f"key-of-{SECOND_ADDRESS}"]), follow=True)
    assert page.status_code == 410
    assert "may not invite people to Northlight" in page.content.decode()
    with pytest.raises(StaleData):
        accept_invitation(invitation=invitation, user=UserFactory(email=SECOND_ADDRESS))


def test_who_sends_an_invitation_again_answers_for_it(
    mira: Membership, invitation: Invitation, jonas: Membership, client_of: Callable[..., Client]
) -> None:
    lower(mira, jonas)
    client_of(mira).post(reverse("invitation-restorations", args=[invitation.pk]))
    accepted = accept_invitation(
        invitation=Invitation.objects.get(pk=invitation.pk), user=UserFactory(email=SECOND_ADDRESS)
    )
    assert accepted.role == Role.ADMIN


def test_an_offer_of_ownership_does_not_come_back_with_its_giver_or_receiver(
    mira: Membership, jonas: Membership, priya: Membership
) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    give_second_factor(mira, jonas, priya)
    given = request_ownership_transfer(by=mira, to=priya)
    change_member_role(by=second, member=mira, role=Role.ADMIN)
    change_member_role(by=second, member=mira, role=Role.OWNER)
    received = request_ownership_transfer(by=second, to=jonas)
    deactivate_member(by=second, member=jonas)
    reactivate_member(by=second, member=jonas)
    for transfer in (given, received):
        transfer.refresh_from_db()
        assert transfer.state == "lapsed"
    assert AuditEvent.objects.filter(action="ownership.take_back").count() == 2


def test_requests_and_unsent_charges_end_with_the_right_to_render(
    mira: Membership, priya: Membership
) -> None:
    token = TokenFactory.create(owner=priya.user, account__tenant=mira.team.tenant)
    held, asked = (
        ChargeFactory.create(job=JobFactory.create(account=token.account, token=token), state=state)
        for state in (ChargeState.HELD, ChargeState.DRAFT)
    )
    approval = ApprovalRequest.objects.create(team=mira.team, charge=asked, member=priya.user)
    change_member_role(by=mira, member=priya, role=Role.VIEWER)
    for row in (held, asked, approval):
        row.refresh_from_db()
    assert (held.state, asked.state) == (ChargeState.REFUSED, ChargeState.REFUSED)
    assert approval.decision == "withdrawn"
