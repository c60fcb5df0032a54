"""Connections to the database that a long answer must not hold."""

from __future__ import annotations

from django.db import connections


def give_back() -> None:
    """Close this thread's connections (with a pool: return them). The next query opens one again.

    Django does so when a response ends; a stream ends after minutes. Inside a transaction it stays.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
