"""The database or Redis is away: a page that says so with 503, one line in the log."""

from __future__ import annotations

import errno
import logging
import sqlite3
from typing import Any
from unittest import mock

import psycopg
import pytest
import redis
from django.db import InterfaceError, OperationalError
from django.test import Client

from dashboard.models import Membership
from dashboard.monitoring import log_format
from dashboard.monitoring.outages import is_full_disk, is_outage


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


ERRORS = [
    OperationalError("connection refused"),
    InterfaceError("the cursor is closed"),
    redis.ConnectionError("nobody listens"),
    redis.TimeoutError("it hangs"),
]


def look(member: Membership, error: Exception) -> Any:
    browser = Client(raise_request_exception=False)
    browser.force_login(member.user)
    with mock.patch("dashboard.shared.middleware.load_own_memberships", side_effect=error):
        return browser.get("/library/")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_page_says_that_it_works_again_soon(mira: Membership, error: Exception) -> None:
    response = look(mira, error)
    assert (response.status_code, response["Retry-After"]) == (503, "3")
    assert "Nothing was changed or sent" in response.content.decode()


def test_an_error_of_ours_stays_one(mira: Membership) -> None:
    assert look(mira, ValueError("a mistake")).status_code == 500


def test_an_outage_is_one_line_without_a_traceback() -> None:
    try:
        raise OperationalError("connection refused\nis the server running?")
    except OperationalError as error:
        caught = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "It failed", (), caught)
    assert (
        log_format.build_formatter("plain").format(record)
        == "error: It failed (unavailable: connection refused)"
    )


FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    redis.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
    caused(OperationalError("could not extend file"), psycopg.errors.DiskFull()),
]


@pytest.mark.parametrize("error", FULL, ids=lambda error: type(error).__name__)
def test_a_full_disk_is_said(mira: Membership, error: Exception) -> None:
    response = look(mira, error)
    assert response.status_code == 507
    assert "must free disk space" in response.content.decode()


def test_a_full_sqlite_is_a_full_disk() -> None:
    """A real one, with no page left."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE films (words TEXT)")
    connection.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as caught:
        connection.execute("INSERT INTO films VALUES (?)", ["x" * 100_000])
    assert is_full_disk(caught.value)
    assert is_outage(caught.value)


def test_another_refusal_of_redis_is_an_error_of_ours(mira: Membership) -> None:
    assert look(mira, redis.ResponseError("WRONGTYPE")).status_code == 500
