"""How far the service's clock is ahead of ours, from the Date headers of its answers.

Each process has it from its own newest answer, and no difference before the first one; pages have
it from Redis. A difference that the length of the call explains is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import redis

from proxyapi.redis_client import connect_redis

CLOCK_OFFSET_KEY = "upstream-clock-offset-s"
CLOCK_OFFSET_MAX_AGE_S = 3600
EVIDENCE_NAME = "clock_offset_s"  # in `Charge.before`
TOLERATED_CLOCK_OFFSET = timedelta(seconds=30)
DATE_RESOLUTION = timedelta(seconds=1)
NO_OFFSET = timedelta(0)
_newest_offset = NO_OFFSET


def learn_clock_offset(
    served_at: datetime | None, sent_at: datetime, received_at: datetime
) -> None:
    """`served_at`: the answer's Date header. It was written between sending and receiving."""
    global _newest_offset
    if served_at is None:
        return
    lowest, highest = served_at - received_at, served_at + DATE_RESOLUTION - sent_at
    _newest_offset = min(max(NO_OFFSET, lowest), highest)
    with suppress(redis.RedisError):
        connect_redis().set(
            CLOCK_OFFSET_KEY, round(_newest_offset.total_seconds()), ex=CLOCK_OFFSET_MAX_AGE_S
        )


def clock_offset() -> timedelta:
    """Service minus ours, as of this process's newest answer."""
    return _newest_offset


def read_clock_offset() -> timedelta:
    """Service minus ours, as of the newest answer of any process."""
    with suppress(redis.RedisError, ValueError):
        return timedelta(seconds=int(connect_redis().get(CLOCK_OFFSET_KEY) or 0))
    return NO_OFFSET


def clock_evidence() -> dict[str, Any]:
    """What a charge keeps, in `before`, of the clocks at its sending."""
    seconds = round(_newest_offset.total_seconds())
    return {EVIDENCE_NAME: seconds} if seconds else {}


def clock_offset_at_sending(before: Mapping[str, Any]) -> timedelta:
    return timedelta(seconds=before.get(EVIDENCE_NAME, 0))


def clock_offset_range(before: Mapping[str, Any]) -> tuple[timedelta, timedelta]:
    """The lowest and highest that the service's clock may have been ahead of a time of the charge:
    the clocks may have been put right since."""
    offsets = (NO_OFFSET, clock_offset_at_sending(before), _newest_offset)
    return min(offsets), max(offsets)
