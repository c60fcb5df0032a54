"""The requests a token has left this minute: one bucket in Redis, shared by every process.

Contract: nothing calls the upstream that was not granted here first (law 5). In any 60 seconds
a token is granted at most its limit of requests: 30 until its first answer tells otherwise
(spec, "Limits"). The bucket is a log of the requests of the last minute, kept by one Lua script
on the server's clock; it only ever errs towards asking less than allowed.

Lanes: a lower lane leaves a reserve to those above it, and the two lowest are spread over the
minute, so that the first ten seconds do not eat what the other fifty need.

A flushed or new Redis does not know what was spent before. For its first minute a bucket is
therefore blind: it grants one request every two seconds to whoever asks, so a first request
goes at once, until an answer's headers say how many are left (`correct`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import cast

import redis
from django.conf import settings

DEFAULT_LIMIT = 30  # requests a minute, the spec's default
# Two requests granted a minute apart can reach the service closer together than that.
WINDOW = 61_000  # milliseconds
SPREAD = 10_000  # milliseconds; the time over which a spread lane's burst is counted
LONGEST_PAUSE = 3600.0  # seconds

_LUA = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")


class Lane(IntEnum):
    """Classes of traffic; the smaller goes first."""

    PERSON = 0
    GATEWAY = 1
    SETTLEMENT = 2
    WATCHING = 3
    MIRRORING = 4


@dataclass(frozen=True, slots=True)
class _Share:
    reserve: int  # percent of the limit that this lane leaves alone
    burst: int  # percent of its share that may fall into ten seconds; 0 is "all of it"
    because: str


_SHARES = {
    Lane.PERSON: _Share(0, 0, "Somebody is waiting."),
    Lane.GATEWAY: _Share(15, 0, "A script must not lock a person out: 4 of 30 stay for people."),
    Lane.SETTLEMENT: _Share(20, 0, "A few reads settle a charge, and they should not wait long."),
    Lane.WATCHING: _Share(
        34, 20, "20 of 30 a minute feed 4 videos; 10 stay for people. 4 in 10 s."
    ),
    Lane.MIRRORING: _Share(60, 20, "The ledger can be a few minutes old. 3 in 10 s."),
}


@dataclass(frozen=True, slots=True)
class Grant:
    """Whether the request may be sent; if not, `wait` seconds is the least until it may."""

    granted: bool
    wait: float


@dataclass(frozen=True, slots=True)
class Level:
    """Requests a minute, requests left now, seconds until all of them are free again."""

    limit: int
    left: int
    resets_in: float


class AllowanceExhausted(Exception):
    """Nothing was sent. `wait` is the seconds until it is worth asking again."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"allowance exhausted for {wait:.1f} s")
        self.wait = wait

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent. The service takes a number of requests a minute from each "
            "token, and this one's are used up. "
            f"The next one goes in {max(1, round(self.wait))} s."
        )


class AllowanceUnknown(AllowanceExhausted):
    """Redis does not answer: without the count nothing is sent."""

    @property
    def user_message(self) -> str:
        return "Nothing was sent. The counter of requests does not answer at the moment."


def take(store: redis.Redis, token_id: str, lane: Lane, *, cost: int = 1) -> Grant:
    """Take `cost` requests from the token's bucket, all of them or none, without waiting."""
    share = _SHARES[lane]
    granted, wait = _run(store, token_id, "take", cost, share.reserve, share.burst, SPREAD)
    return Grant(bool(granted), wait / 1000)


def wait_for(store: redis.Redis, token_id: str, lane: Lane, timeout: float) -> None:
    """Take one request, waiting up to `timeout` seconds for it.

    Raises AllowanceExhausted as soon as it is certain that the time will not do.
    """
    until = time.monotonic() + timeout
    while not (grant := take(store, token_id, lane)).granted:
        if time.monotonic() + grant.wait > until:
            raise AllowanceExhausted(grant.wait)
        # Short waits: the bucket may have been paused or filled meanwhile.
        Event().wait(min(grant.wait, 0.5))


def correct(store: redis.Redis, token_id: str, limit: int, remaining: int) -> None:
    """Learn from an answer's X-RateLimit headers, of refusals too.

    It takes away what others used and never gives back: an answer's count may be older than
    requests that are still under way.
    """
    _run(store, token_id, "correct", max(1, limit), max(0, remaining))


def pause(store: redis.Redis, token_id: str, seconds: float) -> None:
    """Grant nothing for that long, after a 429 for the token. A longer pause stays."""
    _run(store, token_id, "pause", round(min(max(seconds, 0.0), LONGEST_PAUSE) * 1000))


def peek(store: redis.Redis, token_id: str) -> Level:
    """What a person's request would find. Takes nothing."""
    limit, left, resets_in = _run(store, token_id, "peek")
    return Level(limit, left, resets_in / 1000)


def connection() -> redis.Redis:
    """The Redis of the setting REDIS_URL; one pool of connections a process."""
    return _connected(settings.REDIS_URL)


@lru_cache(maxsize=4)
def _connected(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5)


def _run(store: redis.Redis, token_id: str, verb: str, *numbers: int) -> list[int]:
    keys = ["allowance:epoch", f"allowance:{token_id}", f"allowance:{token_id}:log"]
    script = store.register_script(_LUA)
    try:
        answer = script(keys=keys, args=[verb, WINDOW, DEFAULT_LIMIT, *numbers])
    except redis.RedisError:
        pass
    else:
        return cast(list[int], answer)
    raise AllowanceUnknown(1.0)
