"""A deactivated member keeps role and history, and may not enter the team until reactivated."""

from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse
from django.utils import timezone

from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.members.actions.deactivation import deactivate_member, reactivate_member
from dashboard.members.actions.invitations import resend_invitation
from dashboard.members.actions.joining import accept_invitation, create_invited_user
from dashboard.members.actions.removal import hand_over_work, remove_member
from dashboard.members.actions.roles import change_member_role
from dashboard.members.queries.removal import load_left_work
from dashboard.models import ApprovalRequest, AuditAction, AuditEvent, Delivery, Membership, Role
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from proxyapi.models import Charge, ChargeState, Token, TokenState
from proxyapi.refusals import Refusal, StaleData
from tests.factories import (
    ChargeFactory,
    InvitationFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
)

pytestmark = pytest.mark.postgresql

HTMX = {"HX-Request": "true"}


def url(member, name="member-deactivations"):
    return reverse(name, args=[member.pk])


@pytest.fixture
def deactivated(mira, priya):
    deactivate_member(by=mira, member=priya)
    return Membership.with_deactivated.get(pk=priya.pk)


def stream_of(browser, member):
    return StreamSession(
        member.team.tenant_id, member.team_id, member.user_id, browser.session.session_key or ""
    )


def test_they_are_signed_out_and_sign_in_to_no_team(mira, priya, client_of):
    browser = client_of(priya)
    assert browser.get("/library/").status_code == 200
    deactivate_member(by=mira, member=priya)
    assert browser.get("/library/").status_code == 302
    again = client_of(priya).get("/library/")
    assert again.status_code == 403
    assert "You were deactivated in <bdi>Northlight</bdi>" in again.content.decode()


def test_in_another_team_they_stay_signed_in(mira, priya, client_of):
    other = MembershipFactory.create(user=priya.user, team__name="Otherwhere")
    browser = client_of(priya)
    deactivate_member(by=mira, member=priya)
    page = browser.get("/members/")
    assert page.status_code == 200
    assert 'title="Otherwhere">Otherwhere</span>' in page.content.decode()
    assert 'id="ownership"' in page.content.decode()
    answer = browser.post("/preferences/team/", {"team": str(priya.team_id)})
    assert answer.status_code == 404
    assert browser.post("/preferences/team/", {"team": str(other.team_id)}).status_code == 302


def test_their_open_stream_ends_with_the_next_check(mira, priya, client_of):
    MembershipFactory.create(user=priya.user, team__name="Otherwhere")
    stream = stream_of(client_of(priya), priya)
    assert not expired_sessions([stream])
    deactivate_member(by=mira, member=priya)
    assert expired_sessions([stream]) == {stream}


def test_role_history_and_token_stay_and_nothing_unsent_is_sent(mira, priya):
    token = TokenFactory.create(account__tenant=priya.team.tenant, owner=priya.user)
    drafts = [JobFactory.create(account=token.account, token=token) for _ in range(2)]
    asked = ChargeFactory.create(job=drafts[0], member=priya.user, state=ChargeState.DRAFT)
    held = ChargeFactory.create(
        job=drafts[1], member=priya.user, state=ChargeState.HELD, held_at=timezone.now()
    )
    request = ApprovalRequest.objects.create(team=priya.team, charge=asked, member=priya.user)
    deactivate_member(by=mira, member=priya)
    row = Membership.with_deactivated.get(pk=priya.pk)
    assert (row.role, row.joined_at) == (priya.role, priya.joined_at)
    assert Token.objects.get().state == TokenState.WORKING
    request.refresh_from_db()
    assert request.answer.startswith(f"{priya.user} was deactivated before it was decided.")
    charges = Charge.objects.filter(pk__in=[asked.pk, held.pk])
    assert set(charges.values_list("state", flat=True)) == {ChargeState.REFUSED}


def test_their_token_takes_on_no_work_of_a_member_who_leaves(mira, priya, luca):
    hers = TokenFactory.create(account__tenant=priya.team.tenant, owner=priya.user)
    his = TokenFactory.create(account=hers.account, owner=luca.user)
    draft = JobFactory.create(account=his.account, token=his, member=luca.user)
    deactivate_member(by=mira, member=priya)
    assert load_left_work(luca).successors == ()
    assert remove_member(luca, by=mira).moved_drafts == 0
    draft.refresh_from_db()
    assert draft.token == his


def test_their_token_takes_on_nothing_that_is_handed_to_a_colleague_without_one(
    mira, priya, luca, vera
):
    hers = TokenFactory.create(account__tenant=priya.team.tenant, owner=priya.user)
    viewers = TokenFactory.create(account=hers.account, owner=vera.user)
    his = TokenFactory.create(account=hers.account, owner=luca.user)
    draft = JobFactory.create(account=his.account, token=his, member=luca.user)
    deactivate_member(by=mira, member=priya)
    assert hand_over_work(by=mira, member=luca, to=mira) == (0, 0)
    draft.refresh_from_db()
    assert draft.token not in (hers, viewers)


def test_reactivated_they_come_back_as_they_were_and_are_told(mira, deactivated, client_of):
    reactivate_member(by=mira, member=deactivated)
    assert client_of(deactivated).get("/library/").status_code == 200
    assert Membership.objects.get(pk=deactivated.pk).role == deactivated.role
    delivery = Delivery.objects.get()
    attempt_delivery(delivery.pk)
    assert delivery.address == deactivated.user.email
    with pytest.raises(StaleData):
        reactivate_member(by=mira, member=deactivated)


def test_both_are_audited(mira, deactivated):
    reactivate_member(by=mira, member=deactivated)
    actions = AuditEvent.objects.order_by("position").values_list("action", "target")
    assert list(actions) == [
        (AuditAction.MEMBER_DEACTIVATE, str(deactivated.user_id)),
        (AuditAction.MEMBER_REACTIVATE, str(deactivated.user_id)),
    ]


def test_the_last_owner_and_oneself_are_refused(mira, jonas):
    with pytest.raises(Refusal, match="Leave the team instead"):
        deactivate_member(by=mira, member=mira)
    with pytest.raises(PermissionDenied):
        deactivate_member(by=jonas, member=mira)
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    deactivate_member(by=mira, member=second)
    for do in (
        lambda: change_member_role(by=mira, member=mira, role=Role.ADMIN),
        lambda: remove_member(mira, by=mira),
    ):
        with pytest.raises(Refusal, match="owner first"):
            do()


def test_who_was_deactivated_meanwhile_deactivates_nobody(mira, jonas, priya):
    deactivate_member(by=mira, member=jonas)
    with pytest.raises(StaleData, match="lost access"):
        deactivate_member(by=jonas, member=priya)


def test_an_invitation_does_not_bring_them_back(mira, deactivated, client_of):
    address = deactivated.user.email
    earlier = InvitationFactory.create(team=mira.team, address=address, invited_by=mira.user)
    with pytest.raises(StaleData, match="deactivated in this team"):
        accept_invitation(invitation=earlier, user=deactivated.user)
    with pytest.raises(StaleData):
        resend_invitation(by=mira, invitation=earlier)
    assert create_invited_user(invitation=earlier, name="Priya", password="x" * 12) is None
    answer = client_of(mira).post(
        reverse("invitations"), {"addresses": address, "role": "owner", "message": ""}
    )
    assert not Membership.objects.filter(user=deactivated.user).exists()
    assert answer.status_code == 422


def test_removed_elsewhere_they_can_still_be_reactivated_here(mira, deactivated):
    other = MembershipFactory.create(user=deactivated.user, team__name="Otherwhere")
    MembershipFactory.create(team=other.team, role=Role.OWNER)
    remove_member(other)
    deactivated.user.refresh_from_db()
    assert deactivated.user.is_active
    reactivate_member(by=mira, member=deactivated)


def test_a_deactivated_member_can_be_removed(mira, deactivated):
    remove_member(deactivated, by=mira)
    assert not Membership.with_deactivated.filter(pk=deactivated.pk).exists()


def test_the_page_lists_them_last_and_offers_to_reactivate(mira, jonas, priya, client_of):
    deactivate_member(by=mira, member=priya)
    html = client_of(mira).get("/members/").content.decode()
    assert "2 people, none with a working token." in html
    assert html.index("Jonas Weber</bdi>") < html.index("Priya Raman</bdi>")
    assert "deactivated" in html
    assert url(priya, "member-reactivations") in html
    assert url(jonas) in html
    assert url(mira) not in html


def test_the_dialogs_say_what_happens_and_do_it(mira, priya, confirmed_client_of):
    browser = confirmed_client_of(mira)
    dialog = browser.get(url(priya), headers=HTMX).content.decode()
    assert "Deactivate <bdi>Priya Raman</bdi>?" in dialog
    assert "A token of theirs stays as it is" in dialog
    browser.post(url(priya))
    assert not Membership.objects.filter(pk=priya.pk).exists()
    assert browser.get(url(priya)).status_code == 404
    again = url(priya, "member-reactivations")
    assert "Reactivate <bdi>Priya Raman</bdi>?" in browser.get(again, headers=HTMX).content.decode()
    browser.post(again)
    assert Membership.objects.filter(pk=priya.pk).exists()


def test_without_a_recent_password_nothing_is_deactivated(
    mira_has_password, priya, confirmed_client_of
):
    browser = confirmed_client_of(mira_has_password, age_s=3600)
    assert browser.post(url(priya)).status_code == 422
    assert Membership.objects.filter(pk=priya.pk).exists()
