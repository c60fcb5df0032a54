"""Addresses that are refused before anything is sent, and how the others are sent."""

from __future__ import annotations

import pytest

from dashboard.studio.forms.page_address import (
    ADDRESS_REQUIRED,
    ADDRESS_UNREADABLE,
    HAS_PASSWORD,
    NO_SUCH_SITE,
    PRIVATE_ADDRESS,
    SOCIAL_SITE,
    PageReadForm,
)
from tests.cases import each_case


def refusal(text: str) -> str:
    form = PageReadForm({"url": text})
    assert not form.is_valid()
    return form.first_error()


@each_case(
    "text, sent",
    [
        ("https://example.com/a?b=c#d", "https://example.com/a?b=c"),
        ("  http://Example.com ", "http://example.com"),
        ("example.com/a", "https://example.com/a"),
        ("https://example.com.:8443/", "https://example.com:8443/"),
        ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe"),
        ("https://例え.jp/?q=冬", "https://xn--r8jz45g.jp/?q=%E5%86%AC"),
        ("https://example.com/a%20b", "https://example.com/a%20b"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
        ("https://notyoutube.com/", "https://notyoutube.com/"),
        ("https://mylocal.example/", "https://mylocal.example/"),
    ],
)
def test_an_address_is_sent_with_scheme_and_ascii_host(text: str, sent: str) -> None:
    form = PageReadForm({"url": text})
    assert form.is_valid(), form.errors
    assert form.cleaned_data["url"] == sent


@pytest.mark.parametrize(
    "text",
    [
        "https://www.youtube.com/watch?v=4k",
        "YOUTU.BE/4k",
        "https://m.facebook.com./x",
        "https://x.com/a",
        "https://youtube。com/",
        "https://www.tiktok.com:443/@a",
    ],
)
def test_pitfall_118_social_sites_are_refused(text: str) -> None:
    assert refusal(text) == SOCIAL_SITE


@each_case(
    "text",
    [
        "http://127.0.0.1/",
        "http://127.1:8000/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://0/",
        "http://127。0。0。1/",
        "http://10.0.0.5/",
        "http://192.168.1.1/",
        "http://172.16.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fd00::1]/",
        "http://[fe80::1%25eth0]/",
        "http://localhost:8000/",
        "http://app.localhost/",
        "http://LOCALHOST./",
        "http://printer.local/",
        "http://wiki.corp/",
        "http://db.internal/",
    ],
)
def test_pitfall_118_private_networks_are_refused(text: str) -> None:
    assert refusal(text) == PRIVATE_ADDRESS


def test_a_name_that_exists_nowhere_is_not_said_to_be_in_a_private_network() -> None:
    assert refusal("https://www.nonexistent.invalid/page") == NO_SUCH_SITE


@each_case(
    "text",
    [
        "ftp://example.com/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://server/",
        "https://exa mple.com/",
        "https://example.com:99999/",
        "https://a..example.com/",
        "https://example.com\\@localhost/",
        "https://[::1/",
        "a winter week in the north",
        "https://xn--/",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    assert refusal(text) == ADDRESS_UNREADABLE


def test_an_address_with_a_password_is_refused() -> None:
    assert refusal("https://me:secret@example.com/") == HAS_PASSWORD
    assert refusal("https://localhost@example.com/") == HAS_PASSWORD


def test_an_empty_or_overlong_address_is_refused() -> None:
    assert refusal(" ") == ADDRESS_REQUIRED
    assert "At most 2048 characters" in refusal(f"https://example.com/{'a' * 2048}")
    assert "invisible character" in refusal("https://example.com/\x00")
