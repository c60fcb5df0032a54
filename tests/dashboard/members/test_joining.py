"""Join a team by the link of an invitation: with a new account, with one that exists, or not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions import joining
from dashboard.members.actions.invitations import revoke_invitation
from dashboard.members.actions.joining import accept_invitation
from dashboard.members.actions.removal import disable_user, remove_member
from dashboard.models import (
    AlertEvent,
    AuditEvent,
    Invitation,
    Membership,
    SignInEvent,
    User,
    hash_invitation_key,
)
from proxyapi.refusals import StaleData
from tests.factories import InvitationFactory, MembershipFactory, UserFactory

ClientOf = Callable[..., Client]
SAM = "sam.okafor@northlight.example"
PASSWORD = "a lantern over the ice"
FORM = {"name": "Sam Okafor", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def invitation(mira: Membership) -> Invitation:
    """Of Sam, by Mira."""
    row: Invitation = InvitationFactory.create(team=mira.team, address=SAM, invited_by=mira.user)
    return row


def open_link(browser: Client, address: str = SAM) -> Any:
    return browser.get(reverse("invitation", args=[f"key-of-{address}"]), follow=True)


def sign_in(browser: Client, address: str = SAM) -> Any:
    form = {"login": address, "password": PASSWORD, "next": reverse("join")}
    return browser.post(reverse("account_login"), form, follow=True)


def test_a_new_person_joins_with_name_and_password_and_is_signed_in(
    invitation: Invitation, mira: Membership, client: Client
) -> None:
    page = open_link(client)
    assert page.redirect_chain == [(reverse("join"), 302)]
    assert "Mira Sandvik" in page.content.decode()
    joined = client.post(reverse("join"), FORM, follow=True)
    assert joined.redirect_chain[-1][0] == reverse("overview")
    assert "You joined Northlight." in joined.content.decode()
    member = mira.team.memberships.get(user__email=SAM)
    assert (str(member.user), member.role) == ("Sam Okafor", "producer")
    assert member.user.check_password(PASSWORD)
    assert SignInEvent.objects.filter(user=member.user, outcome="signed_in").exists()
    event = AuditEvent.objects.get(action="invitation.accept")
    assert (event.actor_name, event.after["role"]) == ("Sam Okafor", "producer")
    assert AlertEvent.objects.get().title == "Sam Okafor joined Northlight"


def test_the_owners_are_told_of_somebody_who_manages_people_or_money(
    mira: Membership, jonas: Membership, client: Client
) -> None:
    InvitationFactory.create(team=mira.team, address=SAM, invited_by=jonas.user, role="admin")
    open_link(client)
    client.post(reverse("join"), FORM)
    assert set(AlertEvent.objects.values_list("member", flat=True)) == {
        mira.user_id,
        jonas.user_id,
    }


def test_the_link_works_once(invitation: Invitation, client: Client) -> None:
    open_link(client)
    client.post(reverse("join"), FORM)
    for browser in (client, Client()):
        again = open_link(browser)
        assert again.status_code == 410
        assert "This invitation was used" in again.content.decode()
    assert User.objects.filter(email=SAM).count() == 1


@pytest.mark.parametrize("ending", ["expired", "revoked", "resent", "unknown"])
def test_a_link_that_ended_says_how_and_joins_nobody(
    ending: str, invitation: Invitation, mira: Membership, client: Client
) -> None:
    if ending != "unknown":
        open_link(client)
    if ending == "expired":
        past = timezone.now() - timedelta(seconds=1)
        Invitation.objects.update(expires_at=past)
    elif ending == "revoked":
        revoke_invitation(by=mira, invitation=invitation)
    else:
        Invitation.objects.update(key_hash="of a newer link")
    said = {"expired": "expired today", "revoked": "This invitation was revoked"}
    for page in (open_link(client), client.post(reverse("join"), FORM)):
        assert page.status_code in (404, 410)
        assert said.get(ending, "This link is not valid") in page.content.decode()
    assert not User.objects.filter(email=SAM).exists()


def test_who_has_an_account_signs_in_and_joins(
    invitation: Invitation, otto: Membership, client: Client
) -> None:
    otto.user.email, otto.user.password = SAM, make_password(PASSWORD)
    otto.user.save()
    open_link(client)
    page = sign_in(client)
    assert "Join the team" in page.content.decode()
    joined = client.post(reverse("join-acceptances"), follow=True)
    assert "You joined Northlight." in joined.content.decode()
    assert "Northlight" in client.get(reverse("members")).content.decode()
    assert otto.user.memberships.count() == 2


def test_the_page_is_the_same_whether_the_address_has_an_account(
    mira: Membership, django_assert_num_queries: Any
) -> None:
    InvitationFactory.create(team=mira.team, address=SAM, invited_by=mira.user)
    InvitationFactory.create(team=mira.team, address="sum.okafor@northlight.example")
    UserFactory.create(email=SAM)
    Invitation.objects.update(invited_by=mira.user, expires_at="2026-12-24T12:00Z")
    pages = []
    for address in (SAM, "sum.okafor@northlight.example"):
        browser = Client()
        with django_assert_num_queries(9):
            page = open_link(browser, address)
        text = page.content.decode().replace("sum.okafor", "sam.okafor")
        pages.append(text.replace(browser.cookies["csrftoken"].value, ""))
    assert without_csrf(pages[0]) == without_csrf(pages[1])


def without_csrf(page: str) -> list[str]:
    return [line for line in page.splitlines() if "csrf" not in line]


def test_a_new_account_does_not_replace_one_that_exists(
    invitation: Invitation, client: Client
) -> None:
    user = UserFactory.create(email=SAM, name="Sam", password=make_password("another lantern"))
    open_link(client)
    answer = client.post(reverse("join"), FORM)
    assert answer.status_code == 422
    assert "Sign in to join." in answer.content.decode()
    user.refresh_from_db()
    assert user.check_password("another lantern")
    assert not user.memberships.exists()


@pytest.mark.parametrize("has_account", [True, False])
def test_a_password_is_hashed_whether_the_address_has_an_account_or_not(
    has_account: bool, invitation: Invitation, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashing takes most of the time of the answer."""
    if has_account:
        UserFactory.create(email=SAM)
    hashed: list[str] = []

    def hash_slowly(password: str) -> str:
        hashed.append(password)
        return "!"

    monkeypatch.setattr(joining, "make_password", hash_slowly)
    open_link(client)
    client.post(reverse("join"), FORM)
    assert hashed == [PASSWORD]


def test_who_left_their_last_team_comes_back_with_a_new_password(
    invitation: Invitation, client: Client
) -> None:
    user = UserFactory.create(email=SAM, name="Sam")
    disable_user(user)
    open_link(client)
    client.post(reverse("join"), FORM)
    user.refresh_from_db()
    assert (user.is_active, user.check_password(PASSWORD)) == (True, True)
    assert user.memberships.count() == 1


def test_a_forwarded_link_does_not_join_another_person(
    invitation: Invitation, otto: Membership, client_of: ClientOf
) -> None:
    browser = client_of(otto)
    page = open_link(browser).content.decode()
    assert f"You are signed in as {otto.user.email}" in page
    browser.post(reverse("join-acceptances"))
    browser.post(reverse("join"), FORM)
    assert otto.user.memberships.count() == 1
    invitation.refresh_from_db()
    assert invitation.state == "pending"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": " "}, "Enter your name."),
        ({"password1": "short", "password2": "short"}, "at least 10"),
        ({"password2": "another"}, "The two passwords differ."),
        ({"name": "Sam\u202eOkafor"}, "invisible character"),
    ],
)
def test_a_form_that_is_not_complete_is_shown_again_with_the_name(
    change: dict[str, str], sentence: str, invitation: Invitation, client: Client
) -> None:
    open_link(client)
    page = client.post(reverse("join"), FORM | change)
    assert page.status_code == 422
    assert sentence in page.content.decode()
    assert not User.objects.filter(email=SAM).exists()


def test_a_removed_member_does_not_return_with_the_old_link(
    invitation: Invitation, mira: Membership, client: Client
) -> None:
    open_link(client)
    client.post(reverse("join"), FORM)
    mira.team.memberships.get(user__email=SAM).delete()
    assert "This invitation was used" in open_link(client).content.decode()


def test_a_removed_member_does_not_return_with_a_link_that_was_never_used(
    invitation: Invitation, mira: Membership, client: Client
) -> None:
    """They were added by a command meanwhile, or came by single sign-on."""
    InvitationFactory.create(team=mira.team, address="ben@northlight.example")
    member = MembershipFactory.create(team=mira.team, user__email=SAM)
    remove_member(member, by=mira)
    assert "This invitation was revoked" in open_link(client).content.decode()
    client.post(reverse("join"), FORM)
    assert not mira.team.memberships.filter(user__email=SAM).exists()
    assert Invitation.objects.pending().get().address == "ben@northlight.example"
    actions = AuditEvent.objects.order_by("position").values_list("action", flat=True)
    assert list(actions) == ["invitation.revoke", "member.remove"]


def test_an_address_that_was_invited_in_another_case_is_the_same_person(
    mira: Membership, client: Client, client_of: ClientOf
) -> None:
    UserFactory.create(email=SAM, password=make_password(PASSWORD))
    form = {"addresses": "Sam.OKAFOR@Northlight.Example", "role": "viewer", "message": ""}
    client_of(mira).post(reverse("invitations"), form)
    Invitation.objects.update(key_hash=hash_invitation_key(f"key-of-{SAM}"))
    open_link(client)
    sign_in(client, SAM.upper())
    client.post(reverse("join-acceptances"))
    assert mira.team.memberships.get(user__email=SAM).role == "viewer"
    assert User.objects.filter(email__iexact=SAM).count() == 1


def test_who_is_a_member_already_keeps_the_role(invitation: Invitation, mira: Membership) -> None:
    mira.user.email = SAM
    mira.user.save()
    assert accept_invitation(invitation=invitation, user=mira.user).role == "owner"
    with pytest.raises(StaleData):
        accept_invitation(invitation=invitation, user=mira.user)


def test_opening_is_noted_once_and_links_are_not_guessed_quickly(
    invitation: Invitation, client: Client
) -> None:
    open_link(client)
    invitation.refresh_from_db()
    assert invitation.opened_at
    statuses = [open_link(client, f"guess{n}").status_code for n in range(30)]
    assert (set(statuses[:29]), statuses[29]) == ({404}, 429)


def test_an_address_has_twenty_attempts_an_hour_from_wherever_they_come(
    invitation: Invitation,
) -> None:
    """Each client has ten a minute for itself."""
    statuses = []
    for number in range(21):
        browser = Client(REMOTE_ADDR=f"203.0.113.{number}")
        open_link(browser)
        statuses.append(browser.post(reverse("join"), {**FORM, "password2": "another"}).status_code)
    assert (set(statuses[:20]), statuses[20]) == ({422}, 429)


def test_one_client_has_ten_attempts_a_minute_whatever_the_invitations(mira: Membership) -> None:
    statuses = []
    for number in range(11):
        address, browser = f"{number}@northlight.example", Client()
        InvitationFactory.create(team=mira.team, address=address, invited_by=mira.user)
        open_link(browser, address)
        statuses.append(browser.post(reverse("join"), {**FORM, "password2": "another"}).status_code)
    assert (set(statuses[:10]), statuses[10]) == ({422}, 429)


def test_an_account_accepts_ten_times_a_minute(
    invitation: Invitation, otto: Membership, client_of: ClientOf
) -> None:
    browser = client_of(otto)
    open_link(browser)
    accept = reverse("join-acceptances")
    statuses = [browser.post(accept).status_code for _ in range(11)]
    assert (set(statuses[:10]), statuses[10]) == ({302}, 429)
