"""Passkeys: add, rename and remove them, and sign in with one, alone or after the password."""

from __future__ import annotations

import json

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEvent, SignInEvent
from tests.dashboard.account.conftest import is_signed_in, run_queued_tasks, sign_in
from tests.dashboard.account.second_factor_steps import (
    add_passkey,
    enter_code,
    read_codes,
    read_options,
    sign_in_by_passkey,
)
from tests.dashboard.members.conftest import record_proof
from tests.passkeys import HOST, SoftwarePasskey, store_passkey, store_second_factors

pytestmark = [pytest.mark.usefixtures("mira_signs_in"), pytest.mark.postgresql]
HOME = "203.0.113.7"
CAN_USE = "publickey-credentials-get=(self)"


def client_at(ip: str = HOME) -> Client:
    return Client(REMOTE_ADDR=ip, HTTP_HOST=HOST)


@pytest.fixture
def browser() -> Client:
    """Mira's, signed in with her password."""
    browser = client_at()
    sign_in(browser)
    return browser


def test_a_passkey_signs_in_alone(browser, mira) -> None:
    passkey, page = add_passkey(browser)
    assert len(read_codes(page.content.decode())) == 10
    assert "MacBook" in browser.get(reverse("account")).content.decode()
    other = client_at()
    answer = sign_in_by_passkey(other, passkey, next="/tokens/")
    assert answer["Location"] == "/tokens/"
    assert is_signed_in(other)
    event = SignInEvent.objects.latest("pk")
    assert (event.outcome, event.method, event.user) == ("signed_in", "passkey", mira.user)


def test_the_page_that_adds_a_passkey_may_ask_the_browser_for_one_and_is_not_kept(
    browser, mira
) -> None:
    long_ago = client_at()
    long_ago.force_login(mira.user)
    for asked, title in ((browser, "Add a passkey"), (long_ago, "Confirm that it is you")):
        answer = asked.get(reverse("passkeys"))
        assert f'<h2 id="question-title">{title}</h2>' in answer.content.decode()
        assert "publickey-credentials-create=(self)" in answer["Permissions-Policy"]
        assert "no-store" in answer["Cache-Control"]


def test_a_passkey_is_the_second_factor_after_the_password(mira) -> None:
    passkey, _ = store_passkey(mira.user)
    other = client_at()
    assert sign_in(other)["Location"] == reverse("mfa_authenticate")
    page = other.get(reverse("mfa_authenticate"))
    assert CAN_USE in page["Permissions-Policy"]
    credential = passkey.sign(read_options(page.content.decode(), "data-passkey-use"))
    answer = other.post(reverse("mfa_authenticate"), {"credential": credential})
    assert answer.status_code == 302
    assert is_signed_in(other)
    assert SignInEvent.objects.latest("pk").method == "password and passkey"


def test_the_passkey_of_somebody_else_is_refused_and_recorded(mira) -> None:
    store_passkey(mira.user)
    other = client_at()
    sign_in(other)
    page = other.get(reverse("mfa_authenticate")).content.decode()
    credential = SoftwarePasskey().sign(read_options(page, "data-passkey-use"))
    answer = other.post(reverse("mfa_authenticate"), {"credential": credential})
    assert "This passkey was not accepted." in answer.content.decode()
    assert not is_signed_in(other)
    assert SignInEvent.objects.latest("pk").outcome == "wrong_factor"


def test_a_passkey_of_a_page_that_only_looks_like_ours_is_refused(mira) -> None:
    passkey, _ = store_passkey(mira.user)
    other = client_at()
    headers = {"Accept": "application/json"}
    options = other.get(reverse("mfa_login_webauthn"), headers=headers).json()["request_options"]
    credential = passkey.sign(options["publicKey"], origin="https://localh0st.example")
    other.post(reverse("mfa_login_webauthn"), {"credential": credential})
    assert not is_signed_in(other)


def test_a_challenge_is_used_once(mira) -> None:
    passkey, _ = store_passkey(mira.user)
    other = client_at()
    headers = {"Accept": "application/json"}
    options = other.get(reverse("mfa_login_webauthn"), headers=headers).json()["request_options"]
    form = {"credential": passkey.sign(options["publicKey"])}
    assert other.post(reverse("mfa_login_webauthn"), form)["Location"] == "/"
    other.post(reverse("account_logout"))
    other.post(reverse("mfa_login_webauthn"), form)
    assert not is_signed_in(other)


@pytest.mark.parametrize("sent", ["[]", "{}", "null", "1", '{"response": 7}', "not json", ""])
@pytest.mark.parametrize("is_second", [True, False])
def test_a_malformed_passkey_is_a_sentence(sent, is_second, mira) -> None:
    store_passkey(mira.user)
    other = client_at()
    if is_second:
        sign_in(other)
    name = "mfa_authenticate" if is_second else "mfa_login_webauthn"
    answer = other.post(reverse(name), {"credential": sent}, follow=True)
    assert answer.status_code == 200
    assert not is_signed_in(other)


@pytest.mark.parametrize("sent", ["[]", "{}", "null", '{"id": 1}', "not json"])
def test_a_malformed_new_passkey_adds_nothing(sent, browser) -> None:
    browser.get(reverse("passkeys"))
    form = {"name": "MacBook", "passwordless": "True", "credential": sent}
    assert browser.post(reverse("passkeys"), form).status_code == 422
    assert not Authenticator.objects.exists()


def test_a_disabled_person_does_not_sign_in_by_passkey(mira) -> None:
    passkey, _ = store_passkey(mira.user)
    mira.user.is_active = False
    mira.user.save()
    other = client_at()
    assert sign_in_by_passkey(other, passkey)["Location"] == reverse("account_inactive")
    assert not is_signed_in(other)


def test_a_refused_passkey_is_said_on_the_sign_in_page_which_still_leads_back() -> None:
    answer = client_at().post(
        reverse("mfa_login_webauthn"), {"credential": json.dumps({}), "next": "/tokens/"}
    )
    assert answer["Location"] == f"{reverse('account_login')}?next=%2Ftokens%2F"
    other = client_at()
    page = other.post(reverse("mfa_login_webauthn"), {"credential": '{"id": 1}'}, follow=True)
    assert "This passkey was not accepted." in page.content.decode()
    assert CAN_USE in page["Permissions-Policy"]


def test_a_passkey_is_renamed_and_removed(
    browser, mira, mailoutbox, django_capture_on_commit_callbacks
) -> None:
    _, row = store_passkey(mira.user)
    page = browser.post(reverse("passkey-names", args=[row.pk]), {"name": "Office"}, follow=True)
    assert "Office" in page.content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(reverse("passkey-removals", args=[row.pk]))
    assert not Authenticator.objects.exists()
    run_queued_tasks()
    assert "The passkey “Office” was removed." in mailoutbox[0].body
    event = AuditEvent.objects.get(action="second_factor.remove")
    assert event.target == "passkey Office"


def test_the_last_way_in_cannot_be_removed(browser, mira) -> None:
    _, first = store_passkey(mira.user, "MacBook")
    _, second = store_passkey(mira.user, "iPhone")
    mira.user.set_unusable_password()
    mira.user.save()
    browser = client_at()
    browser.force_login(mira.user)
    record_proof(browser, mira)
    browser.post(reverse("passkey-removals", args=[first.pk]))
    page = browser.post(reverse("passkey-removals", args=[second.pk]), follow=True)
    assert "is your only way to sign in" in page.content.decode()
    assert Authenticator.objects.get().pk == second.pk


def test_the_passkeys_of_others_do_not_exist(browser, jonas) -> None:
    _, row = store_passkey(jonas.user)
    for name in ("passkey-names", "passkey-removals"):
        assert browser.get(reverse(name, args=[row.pk])).status_code == 404


def test_an_app_and_a_passkey_both_count_and_an_app_alone_is_asked_for_its_code(mira) -> None:
    store_second_factors(mira.user)
    other = client_at()
    sign_in(other)
    page = other.get(reverse("mfa_authenticate")).content.decode()
    assert "six digits" in page
    assert "Use a passkey" in page
    Authenticator.objects.filter(type=Authenticator.Type.WEBAUTHN).delete()
    assert "Use a passkey" not in other.get(reverse("mfa_authenticate")).content.decode()
    assert "This code is wrong." in enter_code(other, "000000").content.decode()


def test_a_portal_opened_by_an_ip_address_says_that_passkeys_need_a_name(mira) -> None:
    browser = Client(HTTP_HOST="127.0.0.1:8000")
    browser.force_login(mira.user)
    page = browser.get(reverse("account")).content.decode()
    assert "you opened this portal by an IP address" in page
    assert 'href="http://localhost:8000/account/#passkeys"' in page
    assert "Add a passkey" not in page


def test_no_link_leads_to_localhost_from_another_machine(mira, settings) -> None:
    settings.ALLOWED_HOSTS = ["192.0.2.7", "localhost"]
    browser = Client(HTTP_HOST="192.0.2.7:8000")
    browser.force_login(mira.user)
    page = browser.get(reverse("account")).content.decode()
    assert "you opened this portal by an IP address" in page
    assert "//localhost" not in page


def test_no_link_leads_to_a_host_that_is_not_served(mira, settings) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    browser = Client(HTTP_HOST="127.0.0.1:8000")
    browser.force_login(mira.user)
    assert "//localhost" not in browser.get(reverse("account")).content.decode()
