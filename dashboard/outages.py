"""Outages: the errors that mean that the database or Redis is away, and not that we are wrong."""

from __future__ import annotations

import redis
from django.db import InterfaceError, OperationalError

AWAY: tuple[type[BaseException], ...] = (
    *(OperationalError, InterfaceError),
    *(redis.ConnectionError, redis.TimeoutError),  # neither is the other's kind
)
RETRY_AFTER = 10  # seconds


def is_outage(error: BaseException | None) -> bool:
    """Whether the error, or what it was raised from, is an outage."""
    while error is not None:
        if isinstance(error, AWAY):
            return True
        error = error.__cause__
    return False
