"""What a visitor sends that is too much or damaged: a page of ours, and no traceback in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from dashboard.monitoring import log_format
from dashboard.shared.error_views import NOTHING_SAVED_TEXT

Browser = Callable[[Membership], Client]
FORM, PARTS = "application/x-www-form-urlencoded", "multipart/form-data; boundary=abc"
LARGE = "topic=" + "x" * settings.DATA_UPLOAD_MAX_MEMORY_SIZE
MANY = "&".join(f"f{n}=" for n in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))
DAMAGED = (
    '--abc\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n'
    "Content-Transfer-Encoding: base64\r\n\r\nx\r\n--abc--\r\n"
)
CASES = {
    "too large": (LARGE, FORM, 413, "larger than the limit of 2.5 MB"),
    "too many fields": (MANY, FORM, 400, "more than the limit of 1,000 fields"),
    "a damaged part": (DAMAGED, PARTS, 400, "missing or damaged"),
    "no boundary": ("x", "multipart/form-data", 400, "missing or damaged"),
    "another encoding": ("topic=x", f"{FORM}; charset=utf-16", 400, "missing or damaged"),
}


def post(browser: Client, body: str, kind: str, **headers: str) -> Any:
    return browser.post(reverse("drafts"), body, content_type=kind, headers=headers)


@pytest.mark.parametrize(("body", "kind", "status", "words"), CASES.values(), ids=list(CASES))
def test_a_page_says_what_was_wrong_with_it(
    priya: Membership, client_of: Browser, body: str, kind: str, status: int, words: str
) -> None:
    answer = post(client_of(priya), body, kind)
    html = answer.content.decode()
    assert answer.status_code == status
    assert words in html
    assert NOTHING_SAVED_TEXT in html
    assert "Northlight" in html  # with the shell around it


@pytest.mark.parametrize(("body", "kind", "status", "words"), CASES.values(), ids=list(CASES))
def test_a_part_of_a_page_gets_the_sentence_alone(
    priya: Membership, client_of: Browser, body: str, kind: str, status: int, words: str
) -> None:
    answer = post(client_of(priya), body, kind, **{"HX-Request": "true"})
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert "<" not in answer.content.decode()
    assert answer["Content-Type"].startswith("text/plain")


@pytest.mark.django_db
def test_the_limit_is_not_revealed_before_sign_in(client: Client) -> None:
    answer = client.post(reverse("account_login"), LARGE, content_type=FORM)
    assert answer.status_code == 413
    assert "larger than the limit of 2.5 MB" in answer.content.decode()


@pytest.mark.parametrize(("body", "kind", "status", "words"), CASES.values(), ids=list(CASES))
def test_the_log_has_a_line_of_it_and_no_traceback(
    priya: Membership,
    client_of: Browser,
    caplog: pytest.LogCaptureFixture,
    body: str,
    kind: str,
    status: int,
    words: str,
) -> None:
    browser = client_of(priya)
    with caplog.at_level(logging.WARNING):
        post(browser, body, kind)
    lines = [log_format.build_formatter("plain").format(record) for record in caplog.records]
    assert lines
    assert not [line for line in lines if "Traceback" in line]


def test_a_form_that_was_cut_off_on_its_way_says_what_is_missing(
    priya: Membership, client_of: Browser
) -> None:
    """Django reads the fields that came whole."""
    answer = post(client_of(priya), "--abc\r\nContent-Disp", PARTS)
    assert answer.status_code == 422
    assert "Enter a topic, a script or a link" in answer.content.decode()
