"""The database or Redis is away: a page that says so with 503, one line in the log (C2, C3)."""

from __future__ import annotations

import logging
from typing import Any
from unittest import mock

import pytest
import redis
from django.db import InterfaceError, OperationalError
from django.test import Client

from dashboard import logs
from dashboard.models import Membership

ERRORS = [
    OperationalError("connection refused"),
    InterfaceError("the cursor is closed"),
    redis.ConnectionError("nobody listens"),
    redis.TimeoutError("it hangs"),
]


def look(member: Membership, error: Exception) -> Any:
    browser = Client(raise_request_exception=False)
    browser.force_login(member.user)
    with mock.patch("dashboard.middleware.membership_of", side_effect=error):
        return browser.get("/library/")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_page_says_that_it_works_again_soon(mira: Membership, error: Exception) -> None:
    response = look(mira, error)
    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert "Nothing was changed and nothing was sent" in response.content.decode()


def test_an_error_of_ours_stays_one(mira: Membership) -> None:
    assert look(mira, ValueError("a mistake")).status_code == 500


def test_an_outage_is_one_line_without_a_traceback() -> None:
    try:
        raise OperationalError("connection refused\nis the server running?")
    except OperationalError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "It failed", (), caught)
    assert logs.formatter("plain").format(record) == "error: It failed (away: connection refused)"
