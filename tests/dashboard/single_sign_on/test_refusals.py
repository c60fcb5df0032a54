"""Sign-ins at a real provider that end with a sentence: nobody is signed in, nothing is changed."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEvent, Membership, SignInEvent, TeamSecurity, User
from dashboard.shared.openid import code_exchange
from dashboard.shared.openid.authorization import redirect_uri
from dashboard.shared.outgoing_requests import OutgoingResponse
from tests.dashboard.single_sign_on.conftest import add_secret, come_back, start
from tests.factories import UserFactory

SAM = "sam.okafor@northlight.example"


def is_signed_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


def refused_sentence(page, browser: Client) -> str:
    assert page.status_code == 422
    assert not is_signed_in(browser)
    html: str = page.content.decode()
    assert "You were not signed in" in html
    return html


def assert_refusal_recorded(address: str, reason: str) -> None:
    entry = AuditEvent.objects.get(action="sign_in.refuse")
    assert (entry.actor_name, entry.details["reason"]) == (address, reason)
    assert SignInEvent.objects.get().outcome == "sso_refused"


def test_a_person_without_a_listed_group_is_refused(sign_in_at_provider, client, northlight):
    page = sign_in_at_provider(client, SAM, groups=["renamed-studio"])
    assert f"{SAM} is in no group that Northlight gives a role to." in refused_sentence(
        page, client
    )
    assert not User.objects.filter(email=SAM).exists()
    assert_refusal_recorded(SAM, "no group with a role")


def test_a_member_whose_group_was_renamed_keeps_the_role_and_does_not_come_in(
    sign_in_at_provider, client, priya
):
    refused_sentence(sign_in_at_provider(client, priya.user.email, groups=["films"]), client)
    priya.refresh_from_db()
    assert priya.role == "producer"


def test_an_address_that_the_provider_has_not_verified_is_refused(sign_in_at_provider, client):
    page = sign_in_at_provider(client, SAM, groups=["studio"], email_verified=False)
    assert f"The provider has not verified {SAM}." in refused_sentence(page, client)


def test_an_account_of_another_team_is_not_taken_over(sign_in_at_provider, client, otto):
    page = sign_in_at_provider(client, otto.user.email, groups=["video-admins"])
    sentence = "otto@otherwhere.example already has an account in another team."
    assert sentence in refused_sentence(page, client)
    assert Membership.objects.filter(user=otto.user).count() == 1
    assert_refusal_recorded(otto.user.email, "an account of another team")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"is_superuser": True}, "an operator of the portal"),
        ({"is_staff": True}, "an operator of the portal"),
        ({"is_active": False}, "the account is disabled"),
    ],
)
def test_operators_and_disabled_accounts_do_not_come_in(
    sign_in_at_provider, client, priya, fields, reason
):
    User.objects.filter(pk=priya.user_id).update(**fields)
    page = sign_in_at_provider(client, priya.user.email, groups=["studio"])
    refused_sentence(page, client)
    assert_refusal_recorded(priya.user.email, reason)


def test_a_deactivated_member_does_not_come_in(sign_in_at_provider, client, priya):
    Membership.objects.filter(pk=priya.pk).update(deactivated_at=timezone.now())
    page = sign_in_at_provider(client, priya.user.email, groups=["studio"])
    assert "is deactivated in Northlight." in refused_sentence(page, client)
    assert_refusal_recorded(priya.user.email, "deactivated in the team")


def test_an_account_without_a_team_is_not_taken_over(sign_in_at_provider, client):
    UserFactory.create(email=SAM)
    refused_sentence(sign_in_at_provider(client, SAM, groups=["studio"]), client)


def test_a_domain_that_the_team_does_not_allow_is_refused(sign_in_at_provider, client, northlight):
    TeamSecurity.objects.create(team=northlight, allowed_domains=["northlight.example"])
    page = sign_in_at_provider(client, "sam@elsewhere.example", groups=["studio"])
    assert "Northlight only accepts addresses at northlight.example." in refused_sentence(
        page, client
    )
    assert not is_signed_in(client)
    sign_in_at_provider(client, SAM, groups=["studio"])
    assert is_signed_in(client)


def test_an_answer_of_the_provider_works_once(provider, single_sign_on, client, mira):
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    location = provider.approve(start(client, single_sign_on), "mira")
    come_back(client, location)
    assert is_signed_in(client)
    again = Client()
    again.cookies = client.cookies
    page = come_back(again, location)
    assert "This sign-in was used already" in page.content.decode()


def test_an_answer_for_another_browser_is_refused(provider, single_sign_on, client, mira):
    """Login CSRF: a stranger's own answer must not sign anybody in as the stranger."""
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    location = provider.approve(start(client, single_sign_on), "mira")
    victim = Client()
    start(victim, single_sign_on)
    assert "began in another browser" in refused_sentence(come_back(victim, location), victim)


def test_an_answer_with_the_nonce_of_another_sign_in_is_refused(
    provider, single_sign_on, client, mira
):
    """A code of one sign-in that is put into the answer to another one."""
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    stolen = provider.approve(start(client, single_sign_on), "mira")
    browser = Client()
    own = provider.approve(start(browser, single_sign_on), "mira")
    code = own.partition("code=")[2].partition("&")[0]
    stolen_code = stolen.partition("code=")[2].partition("&")[0]
    page = come_back(browser, own.replace(code, stolen_code))
    assert "belongs to another sign-in" in refused_sentence(page, browser)


def test_an_answer_that_comes_after_ten_minutes_is_refused(provider, single_sign_on, client, mira):
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    location = provider.approve(start(client, single_sign_on), "mira")
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        page = come_back(client, location)
    assert "is older than 10 minutes" in page.content.decode()


@pytest.mark.parametrize(
    ("minutes", "words"), [(5, "5 minutes behind"), (-5, "5 minutes ahead of")]
)
def test_a_clock_that_is_off_by_five_minutes_is_named(
    provider, single_sign_on, client, mira, minutes, words
):
    """Ours is moved: the provider is another process."""
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    with time_machine.travel(timezone.now() + timedelta(minutes=minutes)):
        location = provider.approve(start(client, single_sign_on), "mira")
        page = come_back(client, location)
        assert f"The provider’s clock is {words} Reelroom’s." in refused_sentence(page, client)


def test_a_clock_that_is_off_by_half_a_minute_does_not_matter(
    provider, single_sign_on, client, mira
):
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    with time_machine.travel(timezone.now() + timedelta(seconds=30)):
        come_back(client, provider.approve(start(client, single_sign_on), "mira"))
        assert is_signed_in(client)


def test_a_wrong_client_secret_is_said_in_the_words_of_the_provider(
    provider, single_sign_on, client, mira
):
    client_id, _ = provider.register_client(redirect_uri())
    single_sign_on.client_id = client_id
    single_sign_on.save()
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    page = come_back(client, provider.approve(start(client, single_sign_on), "mira"))
    sentence = "“invalid_client”. The provider refused the client ID or the client secret."
    assert sentence in refused_sentence(page, client)


def test_the_right_secret_of_a_registered_client_is_taken(provider, single_sign_on, client, mira):
    client_id, secret = provider.register_client(redirect_uri())
    single_sign_on.client_id = client_id
    single_sign_on.save()
    single_sign_on.secrets.all().delete()
    add_secret(single_sign_on, secret)
    provider.add_person("mira", email=mira.user.email, email_verified=True)
    come_back(client, provider.approve(start(client, single_sign_on), "mira"))
    assert is_signed_in(client)


def test_who_is_refused_at_the_provider_is_not_signed_in(provider, single_sign_on, client):
    url = start(client, single_sign_on)
    state = parse_qs(urlsplit(url).query)["state"][0]
    location = f"{provider.deny(url)}&state={state}"  # which this provider forgets
    sentence = "“access_denied”. The provider did not let this person in."
    assert sentence in refused_sentence(come_back(client, location), client)


def test_a_provider_that_does_not_answer_is_said(single_sign_on, client):
    single_sign_on.issuer = "http://127.0.0.1:9"
    single_sign_on.save()
    page = client.get(reverse("team-single-sign-on", args=[single_sign_on.pk]))
    assert "The provider did not answer." in refused_sentence(page, client)


def test_a_provider_that_fails_at_the_last_step_signs_nobody_in(
    provider, single_sign_on, client, monkeypatch
):
    provider.add_person("sam", email=SAM, email_verified=True, groups=["studio"])
    location = provider.approve(start(client, single_sign_on), "sam")
    broken = OutgoingResponse(503, b"<html>")
    monkeypatch.setattr(code_exchange, "request_provider", lambda *_, **__: broken)
    assert "The provider did not answer." in refused_sentence(come_back(client, location), client)
    assert not User.objects.filter(email=SAM).exists()


def test_too_many_starts_are_refused(single_sign_on, client):
    url = reverse("team-single-sign-on", args=[single_sign_on.pk])
    answers = [client.get(url).status_code for _ in range(31)]
    assert (answers[0], answers[-1]) == (200, 429)
