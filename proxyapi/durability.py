"""What may not be forgotten, not even by a power failure (docs/decisions/0003)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_commits() -> Iterator[None]:
    """What is committed within is on the disk before it goes on, and all that was committed before.

    PostgreSQL always does so. SQLite's log is otherwise written out at its checkpoints: fast, and
    what is lost with the power can be read back, but for what is about to be sent. Within a
    transaction nothing changes, since nothing is committed.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            cursor.execute("PRAGMA synchronous = NORMAL")
