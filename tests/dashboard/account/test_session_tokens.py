"""The key of a session: new at each sign-in, worth nothing after sign-out, in a cookie alone."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from tests.dashboard.account.conftest import PASSWORD, is_signed_in, sign_in

pytestmark = pytest.mark.usefixtures("mira_signs_in")
HOME = "203.0.113.7"


def key_of(browser: Client) -> str:
    return browser.cookies[settings.SESSION_COOKIE_NAME].value


def test_a_sign_in_has_a_new_session_key(browser_at) -> None:
    """So that nobody can give somebody a key and use it afterwards."""
    browser = browser_at(HOME)
    browser.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
    sign_in(browser)
    first = key_of(browser)
    assert first != "a" * 32
    sign_in(browser)
    browser.post(reverse("account_logout"))
    sign_in(browser)
    assert key_of(browser) != first
    assert len(first) == 32


def test_a_session_is_worth_nothing_after_sign_out(browser_at) -> None:
    browser = browser_at(HOME)
    sign_in(browser)
    key = key_of(browser)
    browser.post(reverse("account_logout"))
    thief = browser_at("198.51.100.4")
    thief.cookies[settings.SESSION_COOKIE_NAME] = key
    assert not is_signed_in(thief)
    assert not Session.objects.filter(pk=key).exists()


def test_a_changed_password_ends_the_other_sessions(browser_at, mira: Membership) -> None:
    browser, other = browser_at(HOME), browser_at(HOME)
    sign_in(browser)
    sign_in(other)
    form = {"oldpassword": PASSWORD, "password1": "another lantern", "password2": "another lantern"}
    browser.post(reverse("account_change_password"), form)
    assert is_signed_in(browser)
    assert not is_signed_in(other)


def test_the_cookie_is_hidden_from_scripts_and_stays_on_the_site(browser_at) -> None:
    browser = browser_at(HOME)
    response = sign_in(browser)
    cookie = response.cookies[settings.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"], cookie["domain"]) == (True, "Lax", "")
    assert key_of(browser) not in response.content.decode() + response["Location"]
