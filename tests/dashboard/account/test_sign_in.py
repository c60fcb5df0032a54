"""Sign-in: who can sign in, the errors of wrong passwords, and the pages for failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher, make_password
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from dashboard.models import Membership
from dashboard.shared.error_views import server_error
from tests.factories import UserFactory

PASSWORD, ADDRESS = "a lantern over the ice", "mira@northlight.example"
WRONG = "The e-mail address or the password is wrong."
ClientOf = Callable[[Membership], Client]


@pytest.fixture
def sign_in_browser(mira: Membership) -> Client:
    """A browser that is not signed in; Mira has a password."""
    mira.user.password = make_password(PASSWORD)
    mira.user.save()
    return Client()


def sign_in(browser: Client, password: str, **more: str) -> Any:
    form = {"login": ADDRESS, "password": password, **more}
    return browser.post(reverse("account_login"), form)


def test_the_right_password_opens_the_room(sign_in_browser: Client) -> None:
    response = sign_in(sign_in_browser, PASSWORD)
    assert response.status_code == 302
    assert response["Location"] == "/"
    assert sign_in_browser.get(reverse("members")).status_code == 200


def test_signing_in_goes_on_to_the_page_that_was_asked_for(sign_in_browser: Client) -> None:
    sent_away = sign_in_browser.get(reverse("tokens"))
    assert sent_away["Location"] == f"{reverse('account_login')}?next=/tokens/"
    assert (
        'name="next" value="/tokens/"'
        in sign_in_browser.get(sent_away["Location"]).content.decode()
    )
    assert sign_in(sign_in_browser, PASSWORD, next="/tokens/")["Location"] == "/tokens/"


def test_a_wrong_password_is_said_plainly_and_the_address_is_kept(sign_in_browser: Client) -> None:
    page = sign_in(sign_in_browser, "not the lantern").content.decode()
    assert WRONG in page
    assert 'value="mira@northlight.example"' in page
    assert "not the lantern" not in page


@pytest.mark.parametrize("account", ["without a password", "disabled", "none"])
def test_every_address_is_answered_like_a_wrong_password_after_one_hash(
    account: str, sign_in_browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hashing takes most of the time of the answer."""
    address, hashed = "sam@northlight.example", list[str]()
    if account != "none":
        password = make_password(None if account == "without a password" else PASSWORD)
        UserFactory.create(email=address, password=password, is_active=account != "disabled")

    def encode(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return original(self, password, salt)

    original = MD5PasswordHasher.encode
    monkeypatch.setattr(MD5PasswordHasher, "encode", encode)
    pages = [
        sign_in(Client(), "not the lantern", login=login).content.decode()
        for login in (ADDRESS, address)
    ]
    assert WRONG in pages[0]
    assert without_csrf(pages[0]) == without_csrf(pages[1].replace(address, ADDRESS))
    assert len(hashed) == 2


def without_csrf(page: str) -> list[str]:
    return [line for line in page.splitlines() if "csrf" not in line]


def test_after_many_wrong_passwords_sign_in_is_blocked_for_a_while(sign_in_browser: Client) -> None:
    for _ in range(6):
        page = sign_in(sign_in_browser, "not the lantern")
    assert "Too many wrong passwords." in page.content.decode()
    assert sign_in(sign_in_browser, PASSWORD).status_code == 200


def test_the_sandbox_says_that_nothing_there_costs_anything(sign_in_browser: Client) -> None:
    assert (
        "Nothing there costs anything."
        in sign_in_browser.get(reverse("account_login")).content.decode()
    )


def test_signing_out_takes_a_press_and_not_a_link(mira: Membership, client_of: ClientOf) -> None:
    browser = client_of(mira)
    assert "Sign out?" in browser.get(reverse("account_logout")).content.decode()
    assert browser.get(reverse("members")).status_code == 200
    browser.post(reverse("account_logout"))
    assert browser.get(reverse("members")).status_code == 302


def test_nobody_signs_up_alone(db: None) -> None:
    assert "No sign-up" in Client().get(reverse("account_signup")).content.decode()


@pytest.mark.parametrize(
    "path",
    [
        *("", "email/", "confirm-email/", "confirm-email/MQ:1abcde/", "password/set/"),
        *("reauthenticate/", "login/code/confirm/", "3rdparty/", "2fa/"),
    ],
)
def test_pages_of_the_package_that_are_not_ours_do_not_exist(
    path: str, mira: Membership, client_of: ClientOf
) -> None:
    for browser in (client_of(mira), Client()):
        assert browser.get(f"/accounts/{path}").status_code == 404


def test_a_foreign_host_name_gets_a_400_and_no_line_in_the_log(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    response = Client().get("/accounts/login/", headers={"host": "elsewhere.example"})
    assert response.status_code == 400
    assert response.content.decode() == "This portal is not available at this address."
    assert not caplog.records


def test_a_forgotten_password_is_answered_the_same_for_everybody(
    mira: Membership, mailoutbox: list[object]
) -> None:
    for address in ("mira@northlight.example", "nobody@northlight.example"):
        form = {"email": address}
        page = Client().post(reverse("account_reset_password"), form, follow=True)
        assert "If an account has this address" in page.content.decode()


def test_a_user_without_a_team_sees_who_can_add_them(db: None) -> None:
    browser = Client()
    browser.force_login(UserFactory.create())
    response = browser.get(reverse("members"))
    assert response.status_code == 403
    assert "You are in no team" in response.content.decode()


def test_a_form_that_is_too_old_was_not_sent(mira: Membership) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(mira.user)
    response = browser.post(reverse("tokens"), {"token": "x"})
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


def test_an_address_that_does_not_exist_is_said_in_words(db: None) -> None:
    response = Client().get("/nowhere/")
    assert response.status_code == 404
    assert "This page does not exist" in response.content.decode()


@pytest.mark.parametrize("address", ["/nowhere/", "/accounts/email/"])
def test_who_is_signed_in_finds_the_way_back_from_an_address_that_does_not_exist(
    address: str, mira: Membership
) -> None:
    browser = Client()
    browser.force_login(mira.user)
    response = browser.get(address)
    html = response.content.decode()
    assert response.status_code == 404
    assert "This page does not exist" in html
    assert mira.team.name in html
    assert f'href="{reverse("ledger")}"' in html


def test_the_page_for_our_own_errors_asks_nobody(
    rf: RequestFactory, db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        response = server_error(rf.get("/"))
    assert response.status_code == 500
    assert b"no charge is sent twice" in response.content
