"""Outages: errors that mean that the database or Redis is unreachable or full, and not that the
portal has a bug."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator

import kombu.exceptions
import redis
from django.db import InterfaceError, OperationalError

OUTAGE_ERRORS: tuple[type[BaseException], ...] = (
    *(OperationalError, InterfaceError),
    *(redis.ConnectionError, redis.TimeoutError),  # neither is a subclass of the other
    kombu.exceptions.OperationalError,  # Redis as the queue
)
RETRY_AFTER_S = 3  # seconds; static/js/shell/repeat_press.js sends a press again after it

NO_SPACE_ERRNOS = (errno.ENOSPC, errno.EDQUOT)
# The second: SQLite's shared memory beside the WAL could not grow.
SQLITE_FULL_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
POSTGRES_FULL_CODE = "53100"
REDIS_FULL_PREFIX = "MISCONF"  # it cannot save a snapshot, so it refuses writes


def is_outage(error: BaseException | None) -> bool:
    """True if the error, or one of its causes, is an outage."""
    return any(isinstance(link, OUTAGE_ERRORS) or has_no_space(link) for link in error_chain(error))


def is_full_disk(error: BaseException | None) -> bool:
    """True if the error, or one of its causes, is a full disk: the portal's, PostgreSQL's or
    Redis's."""
    return any(has_no_space(link) for link in error_chain(error))


def has_no_space(error: BaseException) -> bool:
    if isinstance(error, redis.ResponseError):
        return str(error).startswith(REDIS_FULL_PREFIX)
    return (
        (isinstance(error, OSError) and error.errno in NO_SPACE_ERRNOS)
        or getattr(error, "sqlite_errorcode", None) in SQLITE_FULL_CODES
        or getattr(error, "sqlstate", None) == POSTGRES_FULL_CODE
    )


def error_chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes, in order."""
    while error is not None:
        yield error
        error = error.__cause__
