"""Outages: the errors that mean that the database or Redis is away or has no room left, and not
that we are wrong."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator

import kombu.exceptions
import redis
from django.db import InterfaceError, OperationalError

OUTAGE_ERRORS: tuple[type[BaseException], ...] = (
    *(OperationalError, InterfaceError),
    *(redis.ConnectionError, redis.TimeoutError),  # neither is the other's kind
    kombu.exceptions.OperationalError,  # Redis as the queue
)
RETRY_AFTER_S = 10  # seconds

NO_SPACE_ERRNOS = (errno.ENOSPC, errno.EDQUOT)
# The second: SQLite's shared memory beside the WAL could not grow.
SQLITE_FULL_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
POSTGRES_FULL_CODE = "53100"
REDIS_FULL_PREFIX = "MISCONF"  # it cannot save what it would take, so it takes nothing


def is_outage(error: BaseException | None) -> bool:
    """Whether the error, or what it was raised from, is an outage."""
    return any(isinstance(one, OUTAGE_ERRORS) or has_no_space(one) for one in error_chain(error))


def is_full_disk(error: BaseException | None) -> bool:
    """Whether the error, or what it was raised from, is a disk without room: ours, PostgreSQL's or
    Redis's."""
    return any(has_no_space(one) for one in error_chain(error))


def has_no_space(error: BaseException) -> bool:
    if isinstance(error, redis.ResponseError):
        return str(error).startswith(REDIS_FULL_PREFIX)
    return (
        (isinstance(error, OSError) and error.errno in NO_SPACE_ERRNOS)
        or getattr(error, "sqlite_errorcode", None) in SQLITE_FULL_CODES
        or getattr(error, "sqlstate", None) == POSTGRES_FULL_CODE
    )


def error_chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from, one after the other."""
    while error is not None:
        yield error
        error = error.__cause__
