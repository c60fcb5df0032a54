"""A dangerous action is confirmed: by password or passkey, whatever the person has."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEvent, Membership
from tests.dashboard.account.conftest import PASSWORD, sign_in
from tests.dashboard.account.second_factor_steps import sign_in_by_passkey
from tests.dashboard.members.conftest import record_proof
from tests.passkeys import HOST, SoftwarePasskey, store_passkey

pytestmark = pytest.mark.usefixtures("mira_signs_in")
LONG_AGO_S = 3600
REFUSED = "This passkey was not accepted. Nothing was changed."


@pytest.fixture
def passkey(mira: Membership) -> SoftwarePasskey:
    return store_passkey(mira.user)[0]


@pytest.fixture
def browser(mira: Membership) -> Client:
    """Mira's, who signed in an hour ago."""
    return long_open(mira)


def long_open(member: Membership) -> Client:
    browser = Client(HTTP_HOST=HOST)
    browser.force_login(member.user)
    record_proof(browser, member, LONG_AGO_S)
    return browser


def sign(browser: Client, passkey: SoftwarePasskey) -> str:
    options = browser.get(reverse("passkey-options")).json()["request_options"]["publicKey"]
    assert options["userVerification"] == "required"
    return passkey.sign(options)


def remove_passkey(browser: Client, **form: str) -> Any:
    """Remove the passkey of the person, which is dangerous."""
    row = Authenticator.objects.get(type=Authenticator.Type.WEBAUTHN)
    return browser.post(reverse("passkey-removals", args=[row.pk]), form)


def refusals() -> list[str]:
    rows = AuditEvent.objects.filter(action="confirmation.refuse").order_by("position")
    return [row.details["reason"] for row in rows]


def test_a_passkey_confirms_instead_of_the_password(browser, passkey) -> None:
    asked = remove_passkey(browser)
    page = asked.content.decode()
    assert asked.status_code == 422
    assert "Enter your password or use a passkey." in page
    assert f'data-passkey-confirm="{reverse("passkey-options")}"' in page
    assert remove_passkey(browser, credential=sign(browser, passkey)).status_code == 302
    assert not Authenticator.objects.exists()
    assert refusals() == []


def test_a_passkey_confirms_for_ten_minutes_like_a_password(browser, passkey) -> None:
    form = {"next": reverse("account-app"), "credential": sign(browser, passkey)}
    answer = browser.post(reverse("confirmations"), form)
    assert answer["Location"] == reverse("account-app")
    assert "qr__ink" in browser.get(reverse("account-app")).content.decode()


def test_who_has_no_passkey_is_offered_none(browser) -> None:
    page = browser.get(reverse("account-app")).content.decode()
    assert "Your password" in page
    assert "Use a passkey" not in page


def test_the_passkey_of_somebody_else_confirms_nothing(browser, passkey, jonas) -> None:
    others, _ = store_passkey(jonas.user)
    credential = sign(browser, others)
    row = Authenticator.objects.get(user__email="mira@northlight.example")
    answer = browser.post(reverse("passkey-removals", args=[row.pk]), {"credential": credential})
    assert (answer.status_code, REFUSED in answer.content.decode()) == (422, True)
    assert Authenticator.objects.filter(pk=row.pk).exists()
    assert refusals() == ["wrong passkey"]


def test_a_signed_challenge_confirms_once(browser, passkey, mira) -> None:
    credential = sign(browser, passkey)
    form = {"next": reverse("account"), "credential": credential}
    assert browser.post(reverse("confirmations"), form).status_code == 302
    record_proof(browser, mira, LONG_AGO_S)
    assert REFUSED in remove_passkey(browser, credential=credential).content.decode()


def test_a_challenge_of_another_session_confirms_nothing(browser, passkey, mira) -> None:
    credential = sign(long_open(mira), passkey)
    assert REFUSED in remove_passkey(browser, credential=credential).content.decode()


@pytest.mark.parametrize("sent", ["[]", "{}", "null", "1", '{"response": 7}', "not json", "\0"])
def test_what_is_no_passkey_is_a_sentence(sent, browser, passkey) -> None:
    sign(browser, passkey)
    answer = remove_passkey(browser, credential=sent)
    assert (answer.status_code, REFUSED in answer.content.decode()) == (422, True)


def test_wrong_passwords_and_passkeys_share_one_limit_and_are_audited(browser, passkey) -> None:
    for _ in range(4):
        remove_passkey(browser, credential="{}")
    remove_passkey(browser, password="a lantern under the ice")
    page = remove_passkey(browser, credential=sign(browser, passkey)).content.decode()
    assert "Too many attempts failed. Nothing was changed. Wait 5 minutes." in page
    assert "Too many" in remove_passkey(browser, password=PASSWORD).content.decode()
    assert refusals() == ["wrong passkey", "wrong password", "too many attempts"]
    entry = AuditEvent.objects.filter(action="confirmation.refuse").latest("position")
    assert entry.actor_name == "Mira Sandvik"
    audit = browser.get(reverse("audit")).content.decode()
    assert "Confirmation refused" in audit
    assert "too many attempts" in audit


def test_a_right_one_uses_up_no_attempt(browser, passkey) -> None:
    form = {"next": reverse("account")}
    for _ in range(6):
        form["credential"] = sign(browser, passkey)
        assert browser.post(reverse("confirmations"), form).status_code == 302


def test_a_sign_in_by_passkey_counts_as_recent(passkey) -> None:
    browser = Client(HTTP_HOST=HOST)
    sign_in_by_passkey(browser, passkey)
    assert remove_passkey(browser).status_code == 302


def test_who_has_nothing_to_confirm_with_is_told_what_to_do(passkey, mira) -> None:
    mira.user.set_unusable_password()
    mira.user.save()
    store_passkey(mira.user, "iPhone")
    first = Authenticator.objects.order_by("pk")[0]
    browser = long_open(mira)
    url = reverse("passkey-removals", args=[first.pk])
    assert "Your password" not in browser.get(url).content.decode()
    assert "Use a passkey." in browser.post(url).content.decode()
    Authenticator.objects.all().delete()
    page = browser.get(reverse("account-app")).content.decode()
    assert "you have no password and no passkey" in page
    assert "qr__ink" not in page


def test_a_password_as_before_counts_at_sign_in() -> None:
    browser = Client(HTTP_HOST=HOST)
    sign_in(browser)
    assert "qr__ink" in browser.get(reverse("account-app")).content.decode()
