"""Wrong passwords are limited for one client and one address, so a stranger locks nobody out."""

from __future__ import annotations

import time

import pytest
import time_machine

from dashboard.account.sign_in_limits import KNOWN_CLIENT_COOKIE
from tests.dashboard.account.conftest import MIRA, is_signed_in, sign_in

pytestmark = pytest.mark.usefixtures("mira_signs_in")
LIMITED = "Too many wrong passwords."
HOME, STRANGER = "203.0.113.7", "198.51.100.4"


def is_limited(response) -> bool:
    return LIMITED in response.content.decode()


def guess(browser, times, address=MIRA) -> None:
    for _ in range(times):
        sign_in(browser, "not the lantern", address)


def test_a_stranger_who_guesses_does_not_lock_the_member_out(browser_at) -> None:
    stranger, mira = browser_at(STRANGER), browser_at(HOME)
    guess(stranger, 9)
    assert is_limited(sign_in(stranger))
    sign_in(mira)
    assert is_signed_in(mira)


def test_five_wrong_passwords_are_one_clients_for_one_address(browser_at) -> None:
    stranger = browser_at(STRANGER)
    guess(stranger, 4)
    assert not is_limited(sign_in(stranger, "not the lantern"))
    assert is_limited(sign_in(stranger, "not the lantern"))
    assert not is_limited(sign_in(stranger, "x", "jonas@northlight.example"))


def test_the_right_password_counts_nothing(browser_at) -> None:
    browser = browser_at(HOME)
    for _ in range(12):
        assert sign_in(browser).status_code == 302
        browser.post("/accounts/logout/")


def test_capitals_make_no_other_address(browser_at) -> None:
    stranger = browser_at(STRANGER)
    guess(stranger, 5)
    assert is_limited(sign_in(stranger, "x", MIRA.title()))


def test_who_is_locked_may_try_again_after_five_minutes(browser_at) -> None:
    browser = browser_at(HOME)
    guess(browser, 6)
    with time_machine.travel(time.time() + 301):
        assert sign_in(browser).status_code == 302


def test_one_client_tries_ten_passwords_a_minute_whatever_the_addresses(browser_at) -> None:
    stranger = browser_at(STRANGER)
    for number in range(10):
        assert not is_limited(sign_in(stranger, "x", f"{number}@northlight.example"))
    assert is_limited(sign_in(stranger, "x", "11@northlight.example"))


def test_many_clients_share_a_hundred_tries_an_hour_for_one_address(
    browser_at, monkeypatch
) -> None:
    """A browser that signed in before is not among them."""
    mira, others = browser_at(HOME), browser_at(HOME)
    sign_in(mira)
    mira.post("/accounts/logout/")
    for number in range(100):
        assert not is_limited(sign_in(browser_at(f"198.51.100.{number}"), "x"))
    assert is_limited(sign_in(browser_at("192.0.2.1")))
    assert is_limited(sign_in(others))
    sign_in(mira)
    assert is_signed_in(mira)


def test_a_known_browser_has_its_own_five_tries_beside_a_stranger_in_the_same_network(
    browser_at,
) -> None:
    mira, stranger = browser_at(HOME), browser_at(HOME)
    sign_in(mira)
    mira.post("/accounts/logout/")
    guess(stranger, 30)
    assert is_limited(sign_in(stranger))
    guess(mira, 4)
    assert sign_in(mira).status_code == 302


def test_a_known_browser_that_guesses_is_locked(browser_at) -> None:
    mira = browser_at(HOME)
    sign_in(mira)
    mira.post("/accounts/logout/")
    guess(mira, 5)
    assert is_limited(sign_in(mira))


def test_a_known_browser_is_known_for_one_address_and_cannot_be_made_up(browser_at) -> None:
    browser = browser_at(HOME)
    sign_in(browser)
    browser.post("/accounts/logout/")
    cookie = browser.cookies[KNOWN_CLIENT_COOKIE]
    assert "mira" not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/accounts/")
    for number in range(100):
        sign_in(browser_at(f"198.51.100.{number}"), "x", "jonas@northlight.example")
    assert is_limited(sign_in(browser, "x", "jonas@northlight.example"))
    forged = browser_at(STRANGER)
    forged.cookies[KNOWN_CLIENT_COOKIE] = cookie.value.replace(cookie.value[:4], "aaaa")
    guess(forged, 5)
    assert is_limited(sign_in(forged))
