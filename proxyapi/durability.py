"""Durable commits: what must survive a power failure (docs/decisions/0003)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def durable_commits() -> Iterator[None]:
    """Commits within it, and all earlier ones, are on disk before the code continues.

    PostgreSQL always does so. SQLite otherwise syncs its log only at its checkpoints: that is fast,
    and what a power failure loses can be read back, except a charge about to be sent. Within a
    transaction nothing changes, because nothing is committed.
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
