"""How far the service's clock is ahead of ours, from the Date headers of its answers; and how far
the ledger's times are, from the debits of answered charges.

Both are in Redis, of the newest answer of any process; without Redis there is no difference. One
that the length of the call explains is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, cast

import redis
from django.utils import timezone

from proxyapi.redis_client import connect_redis

CLOCK_OFFSET_MAX_AGE_S = 86_400
EVIDENCE_NAME = "clock_offset_s"  # in `Charge.before`
TOLERATED_CLOCK_OFFSET = timedelta(seconds=30)
DATE_RESOLUTION = timedelta(seconds=1)
NO_OFFSET = timedelta(0)
# A debit may be booked so long after the answer; one of an older charge tells nothing of today.
LEDGER_BOOKING_DELAY, LEDGER_LEARNING_PERIOD = timedelta(minutes=10), timedelta(hours=1)


class ClockSource(StrEnum):
    """The Redis key of the difference, in seconds; that with `-since` is the time since when it is
    above the tolerated one."""

    DATE_HEADER = "upstream-clock-offset-s"
    LEDGER = "upstream-ledger-offset-s"


def learn_clock_offset(
    served_at: datetime | None, sent_at: datetime, received_at: datetime
) -> None:
    """`served_at`: the answer's Date header. It was written between sending and receiving."""
    if served_at is not None:
        offset = unexplained_offset(served_at, sent_at, received_at)
        store_clock_offset(ClockSource.DATE_HEADER, offset)


def learn_ledger_offset(booked_at: datetime, sent_at: datetime, answered_at: datetime) -> None:
    """`booked_at`: the ledger's time of a debit; the other two are those of its charge."""
    if timezone.now() - sent_at < LEDGER_LEARNING_PERIOD:
        offset = unexplained_offset(booked_at, sent_at, answered_at + LEDGER_BOOKING_DELAY)
        store_clock_offset(ClockSource.LEDGER, offset)


def unexplained_offset(at: datetime, earliest: datetime, latest: datetime) -> timedelta:
    """How far `at`, in whole seconds by the other clock, is outside these two times of ours."""
    return min(max(NO_OFFSET, at - latest), at + DATE_RESOLUTION - earliest)


def store_clock_offset(source: ClockSource, offset: timedelta) -> None:
    with suppress(redis.RedisError), connect_redis().pipeline(transaction=False) as pipeline:
        since = f"{source}-since"
        pipeline.set(source, round(offset.total_seconds()), ex=CLOCK_OFFSET_MAX_AGE_S)
        if abs(offset) > TOLERATED_CLOCK_OFFSET:
            pipeline.set(since, f"{timezone.now():%Y-%m-%d %H:%M:%S}", nx=True)
            pipeline.expire(since, CLOCK_OFFSET_MAX_AGE_S)
        else:
            pipeline.delete(since)
        pipeline.execute()


def read_clock_offset(source: ClockSource = ClockSource.DATE_HEADER) -> timedelta:
    """Service minus ours, as of the newest answer, or debit, of any process."""
    with suppress(redis.RedisError, ValueError):
        return timedelta(seconds=int(connect_redis().get(source) or 0))
    return NO_OFFSET


def read_clock_difference_since(source: ClockSource) -> str:
    """Since when the clocks differ by more than the tolerated offset; empty if they do not."""
    with suppress(redis.RedisError):
        return (cast(bytes | None, connect_redis().get(f"{source}-since")) or b"").decode()
    return ""


def clock_evidence() -> dict[str, Any]:
    """What a charge keeps, in `before`, of the clocks at its sending."""
    seconds = round(read_clock_offset().total_seconds())
    return {EVIDENCE_NAME: seconds} if seconds else {}


def clock_offset_at_sending(before: Mapping[str, Any]) -> timedelta:
    return timedelta(seconds=before.get(EVIDENCE_NAME, 0))


def clock_offset_range(before: Mapping[str, Any]) -> tuple[timedelta, timedelta]:
    """The lowest and highest that the service's clock may have been ahead of a time of the charge:
    the clocks may have been put right since."""
    offsets = (NO_OFFSET, clock_offset_at_sending(before), read_clock_offset())
    return min(offsets), max(offsets)
