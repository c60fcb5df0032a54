"""Addresses that the service fetches for members: what is visibly private is refused here."""

from __future__ import annotations

import pytest

from dashboard.shared.public_addresses import (
    HAS_CREDENTIALS,
    NOT_AN_ADDRESS,
    NOT_PUBLIC,
    find_address_problem,
)


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1/x.png", "https://10.0.0.5/", "http://[::1]:8000/", "http://0.0.0.0/"),
        *("http://localhost/x", "http://LOCALHOST./x", "https://nas.local/x", "http://router/x"),
        *("http://169.254.169.254/latest", "https://[::ffff:127.0.0.1]/", "http://a.internal/"),
        *("http://2130706433/", "http://0x7f.1/", "http://127.1/"),
    ],
)
def test_a_private_address_is_refused(address: str) -> None:
    assert find_address_problem(address) == NOT_PUBLIC


@pytest.mark.parametrize(
    "address", ["", "x", "//a.example/x", "ftp://a.example/x", "javascript:alert(1)", "https:///x"]
)
def test_what_is_no_web_address_is_refused(address: str) -> None:
    assert find_address_problem(address) == NOT_AN_ADDRESS


def test_a_password_is_not_given_to_the_service() -> None:
    assert find_address_problem("https://me:secret@a.example/x.png") == HAS_CREDENTIALS


@pytest.mark.parametrize(
    "address", ["https://a.example/x.png", "http://93.184.215.14/x", "https://münchen.example/ä"]
)
def test_a_public_address_is_accepted(address: str) -> None:
    assert find_address_problem(address) == ""
