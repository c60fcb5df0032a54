"""Which passwords are taken: long enough, unknown to lists, not made of what anybody would try."""

from __future__ import annotations

import pytest
from allauth.account.adapter import get_adapter
from django.core.exceptions import ValidationError
from django.urls import reverse

from dashboard.models import User
from tests.dashboard.account.conftest import PASSWORD, is_signed_in, sign_in

SAM = User(email="sam.okafor@northlight.example", name="Sam Okafor")


def is_taken(password: str) -> bool:
    try:
        get_adapter().clean_password(password, SAM)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "password",
    [
        "nine chars",
        "only lower case letters",
        "1029384756 7465",
        "ünïcödé läntern",
        " spaces at both ends ",
        "x" * 12 + " long " * 30,
        "the reelroom of my uncle",
    ],
)
def test_any_characters_make_a_password_if_there_are_enough(password: str) -> None:
    assert is_taken(password) is (len(password) >= 10)


@pytest.mark.parametrize(
    "password",
    [
        "lantern12",
        "1234567890",
        "password123",
        "qwertyuiop",
        "Reelroom2026!",
        "video-reelroom-1",
        "storyboard1",
        "sam.okafor@northlight",
        "samokafor1",
    ],
)
def test_a_password_that_is_short_listed_or_guessed_from_the_context_is_refused(
    password: str,
) -> None:
    assert not is_taken(password)


@pytest.mark.usefixtures("mira_signs_in")
def test_a_password_counts_exactly_as_it_was_typed(browser_at, mira) -> None:
    longest = f" {'Lantern ' * 30}"
    mira.user.set_password(longest)
    mira.user.save()
    for number, wrong in enumerate([longest.strip(), longest.lower(), longest[:72]]):
        stranger = browser_at(f"203.0.113.{number}")
        sign_in(stranger, wrong)
        assert not is_signed_in(stranger)
    browser = browser_at("203.0.113.99")
    sign_in(browser, longest)
    assert is_signed_in(browser)


@pytest.mark.usefixtures("mira_signs_in")
def test_a_new_password_needs_the_present_one(browser_at, mira) -> None:
    browser = browser_at("203.0.113.7")
    sign_in(browser)
    form = {"password1": "another lantern", "password2": "another lantern"}
    browser.post(reverse("account_change_password"), {**form, "oldpassword": "wrong"})
    mira.user.refresh_from_db()
    assert mira.user.check_password(PASSWORD)
    browser.post(reverse("account_change_password"), {**form, "oldpassword": PASSWORD})
    mira.user.refresh_from_db()
    assert mira.user.check_password("another lantern")
    assert mira.user.password.startswith("argon2$") or "md5" in mira.user.password


def test_password_fields_are_masked_and_take_what_a_manager_fills_in(client, db) -> None:
    page = client.get(reverse("account_login")).content.decode()
    assert 'name="password" type="password" autocomplete="current-password"' in page
    assert "onpaste" not in page
