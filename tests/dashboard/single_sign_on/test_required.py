"""A team that requires single sign-on: passwords and other sessions do not open it, owners' do."""

from __future__ import annotations

from uuid import uuid4

import pytest
from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.account.sign_in_history import append_sign_ins_to_audit
from dashboard.models import AuditEvent, Membership, SignInEvent
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from tests.dashboard.account.second_factor_steps import enter_code, totp_code, turn_on_app
from tests.factories import MembershipFactory, TeamFactory

PASSWORD = "a lantern over the ice"
OTHERWHERE = "Otherwhere"


@pytest.fixture
def required(single_sign_on):
    single_sign_on.is_required = True
    single_sign_on.tested_at, single_sign_on.tested_settings = timezone.now(), "hash"
    single_sign_on.save()
    return single_sign_on


def give_password(member: Membership) -> None:
    member.user.password = make_password(PASSWORD)
    member.user.save()


def sign_in(browser: Client, member: Membership):
    give_password(member)
    form = {"login": member.user.email, "password": PASSWORD}
    return browser.post(reverse("account_login"), form)


def test_a_members_password_is_refused_and_leads_to_the_provider(required, priya, client):
    answer = sign_in(client, priya)
    html = answer.content.decode()
    assert answer.status_code == 403
    assert "Northlight</bdi> requires single sign-on" in html
    assert reverse("team-single-sign-on", args=[required.pk]) in html
    assert "_auth_user_id" not in client.session
    assert SignInEvent.objects.get().outcome == "sso_required"
    append_sign_ins_to_audit()
    assert AuditEvent.objects.get().details["reason"] == "single sign-on is required"


def test_a_wrong_password_says_nothing_of_it(required, priya, client):
    give_password(priya)
    form = {"login": priya.user.email, "password": "not the lantern"}
    assert (
        "requires single sign-on"
        not in client.post(reverse("account_login"), form).content.decode()
    )


def test_an_owner_keeps_the_password_as_a_way_in_and_it_is_audited(required, mira, client):
    assert sign_in(client, mira).url == "/"
    entry = AuditEvent.objects.get(action="single_sign_on.bypass")
    assert (entry.actor_name, entry.source) == ("Mira Sandvik", "portal")
    assert client.get(reverse("members")).status_code == 200


def test_a_session_that_was_open_before_is_led_to_the_provider(
    single_sign_on, priya, client_of, request
):
    browser = client_of(priya)
    assert browser.get(reverse("library")).status_code == 200
    request.getfixturevalue("required")
    answer = browser.get(reverse("library"))
    assert answer.status_code == 403
    assert "Continue with single sign-on" in answer.content.decode()


def test_an_open_stream_ends_when_it_becomes_required(single_sign_on, priya, client_of, request):
    browser = client_of(priya)
    key = browser.session.session_key
    ticket = StreamSession(priya.team.tenant_id, priya.team_id, priya.user_id, key)
    assert not expired_sessions({ticket})
    request.getfixturevalue("required")
    assert expired_sessions({ticket}) == {ticket}


def test_single_sign_on_opens_the_team(required, sign_in_at_provider, priya, client):
    sign_in_at_provider(client, priya.user.email, groups=["studio"])
    assert client.get(reverse("library")).status_code == 200
    key = client.session.session_key
    ticket = StreamSession(priya.team.tenant_id, priya.team_id, priya.user_id, key)
    assert not expired_sessions({ticket})


def test_the_provider_of_one_team_opens_no_other_team_of_its_members(
    single_sign_on, sign_in_at_provider, priya, client
):
    """Else an owner of Northlight could enter Otherwhere as Priya."""
    elsewhere = MembershipFactory(team=TeamFactory(name=OTHERWHERE), user=priya.user)
    sign_in_at_provider(client, priya.user.email, groups=["studio"])
    page = client.post(reverse("team"), {"team": str(elsewhere.team_id)}, follow=True)
    html = page.content.decode()
    assert "Otherwhere needs another sign-in than this session’s." in html
    assert 'title="Northlight">Northlight</span>' in html


def shown_team(client):
    html = client.get(reverse("library")).content.decode()
    return html.partition('class="team__name"')[2].partition(">")[2].partition("<")[0]


def test_with_a_password_a_member_of_two_teams_enters_the_one_that_does_not_require_it(
    required, priya, client
):
    elsewhere = MembershipFactory(team=TeamFactory(name=OTHERWHERE), user=priya.user)
    assert sign_in(client, priya).url == "/"
    assert shown_team(client) == OTHERWHERE
    client.post(reverse("team"), {"team": str(priya.team_id)})
    assert shown_team(client) == OTHERWHERE
    assert client.post(reverse("team"), {"team": str(uuid4())}).status_code == 404
    assert elsewhere.team.name == OTHERWHERE


def test_the_mark_of_a_session_counts_for_its_own_user_only(required, priya, luca, client_of):
    browser = client_of(priya)
    session = browser.session
    session["single_sign_on"] = [str(priya.team_id), str(luca.user_id)]
    session.save()
    assert browser.get(reverse("library")).status_code == 403


def test_a_passkey_is_refused_too(required, priya, client, rf):
    """The end of allauth's sign-in, which all its ways have in common."""
    request = rf.post("/accounts/2fa/webauthn/login/")
    request.session, request.user = client.session, AnonymousUser()
    record_authentication(request, priya.user, method="mfa", type="webauthn", passwordless=True)
    answer = perform_login(request, priya.user, email_verification="none")
    assert answer.status_code == 403
    assert "_auth_user_id" not in request.session


def test_a_second_factor_is_asked_for_after_single_sign_on(
    single_sign_on, sign_in_at_provider, priya, client, request
):
    sign_in(client, priya)
    key, _ = turn_on_app(client)
    request.getfixturevalue("required")
    browser = Client()
    sign_in_at_provider(browser, priya.user.email, groups=["studio"])
    assert "_auth_user_id" not in browser.session
    enter_code(browser, totp_code(key))
    assert browser.get(reverse("library")).status_code == 200
    assert SignInEvent.objects.latest("pk").method == "single sign-on and code"
