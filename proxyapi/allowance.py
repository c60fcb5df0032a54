"""The requests a token has left this minute: one bucket in Redis, shared by every process.

Contract: nothing calls the upstream that was not granted here first (law 5). In any 60 seconds
a token is granted at most its limit of requests: 30 until its first answer tells otherwise
(spec, "Limits"). The bucket is a log of the requests of the last minute, kept by one Lua script
on the server's clock; it only ever errs towards asking less than allowed. So it holds whether
the service counts in sliding minutes or in fixed ones, which the spec does not say. A request that
leaves long after its grant is counted from when it left (`sent`).

Lanes: a lower lane leaves a reserve to those above it. Watching takes whatever people leave
unused but two requests, which stay free for the next press of a button, a third that is free in
time for the last click of three, and more where people press much
(docs/decisions/0012-what-people-leave-unused.md). The two lowest lanes are spread over the minute,
so that its first seconds do not eat what the others need.

A flushed or new Redis does not know what was spent before. For its first minute a bucket is
therefore blind: it grants one request every two seconds to whoever asks, so a first request
goes at once, until an answer's headers say how many are left (`correct`). Where the service counts
in fixed minutes, those may be more than were left of the last sixty seconds: it allows them.

Two smaller limits have their own names (`Pool`): previews, five a minute, and the scraping pool,
whose 429 stops scraping and nothing else (spec, "Limits"; pitfalls 27 and 28).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from threading import Event
from typing import NamedTuple, cast

import redis

from proxyapi import redis_client

DEFAULT_LIMIT = 30  # requests a minute, the spec's default
# Two requests granted a minute apart can reach the service closer together than that.
WINDOW = 61_000  # milliseconds
LATE = 0.5  # seconds from the grant; the rest of that second is for the way to the service
LONGEST_PAUSE = 3600.0  # seconds
PREVIEWS = 5  # a minute; the spec's figure

_LUA = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")


class Lane(IntEnum):
    """Classes of traffic; the smaller goes first."""

    PERSON = 0
    GATEWAY = 1
    SETTLEMENT = 2
    WATCHING = 3
    MIRRORING = 4


class Pool(StrEnum):
    """Limits that an account meets beside those of its tokens."""

    PREVIEWS = "previews"
    SCRAPING = "scraping"

    def of(self, account: str) -> str:
        """The name of its bucket; `account` is `Account.bucket`."""
        return f"{self}:{account}"


class _Share(NamedTuple):
    reserve: int  # percent of the limit that this lane leaves free
    follows: bool  # it leaves more where people have sent much in the last minutes
    pace: int  # percent of the limit that it gets a minute at most; 0 is "all of it"
    burst: int  # how many of those at once
    starves: int  # after so many seconds without any it goes before all but people; 0: never
    soon: int  # milliseconds within which one more is free than it leaves now; 0: it need not
    because: str


_SHARES = {
    Lane.PERSON: _Share(0, False, 0, 0, 0, 0, "Somebody is waiting."),
    Lane.GATEWAY: _Share(4, False, 80, 12, 0, 0, "It does not lock a person out: 12 at once."),
    Lane.SETTLEMENT: _Share(4, False, 60, 10, 0, 0, "Before any look, but 18 a minute at most."),
    Lane.WATCHING: _Share(7, True, 92, 2, 0, 1500, "2 stay free, in 1.5 s a third; 27 a minute."),
    Lane.MIRRORING: _Share(60, True, 40, 3, 30, 0, "The ledger can be old; but one in 30 s goes."),
}


@dataclass(frozen=True, slots=True)
class Grant:
    """Whether the request may be sent; if not, `wait` seconds is the least until it may.

    `number` is its place in the log, `since` (monotonic seconds) when it was asked for: see `sent`.
    """

    granted: bool
    wait: float
    number: int = 0
    since: float = field(default_factory=time.monotonic, compare=False)


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


class PoolExhausted(AllowanceExhausted):
    """A limit beside the token's is used up; everything else goes on."""

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent. The service does only a few of this kind a minute. "
            f"The next one goes in {max(1, round(self.wait))} s."
        )


class AllowanceUnknown(AllowanceExhausted):
    """Redis does not answer: without the count nothing is sent."""

    @property
    def user_message(self) -> str:
        return "Nothing was sent. The counter of requests does not answer at the moment."


def take(
    store: redis.Redis,
    name: str,
    lane: Lane,
    *,
    cost: int = 1,
    limit: int = DEFAULT_LIMIT,
    at: int | None = None,
) -> Grant:
    """Take `cost` requests from the bucket, all of them or none, without waiting.

    `limit` holds until an answer tells another. `at` is the time in milliseconds, for simulations.
    """
    since = time.monotonic()
    granted, wait, number = _run(store, name, "take", cost, *_numbers(lane), limit=limit, at=at)
    return Grant(bool(granted), wait / 1000, number, since)


def room(store: redis.Redis, name: str, lane: Lane, *, at: int | None = None) -> int:
    """How many requests the lane would be granted now. Takes nothing."""
    return _run(store, name, "room", *_numbers(lane), at=at)[0]


def rooms(store: redis.Redis, names: Sequence[str], lane: Lane) -> list[int]:
    """The room of several buckets, in one round trip."""
    arguments: list[str | int] = ["room", WINDOW, DEFAULT_LIMIT, "", *_numbers(lane)]
    script = store.register_script(_LUA)
    try:
        with store.pipeline(transaction=False) as pipeline:
            for name in names:
                script(keys=_keys(name), args=arguments, client=pipeline)
            return [answer[0] for answer in pipeline.execute()]
    except redis.RedisError:
        pass
    raise AllowanceUnknown(1.0)


def await_pool(store: redis.Redis, pool: Pool, account: str, timeout: float) -> None:
    """Wait up to `timeout` seconds until the account's pool has one left, and take none of it.

    Of the scraping pool nobody tells the size: it is open until a 429 pauses it. Raises
    PoolExhausted.
    """
    until = time.monotonic() + timeout
    while (wait := _wait_of(store, pool, account)) > 0:
        if time.monotonic() + wait > until:
            raise PoolExhausted(wait)
        Event().wait(min(wait, 0.5))


def _wait_of(store: redis.Redis, pool: Pool, account: str) -> float:
    name = pool.of(account)
    if pool is Pool.SCRAPING:
        return paused(store, name)
    room, wait = _run(store, name, "room", *_numbers(Lane.PERSON), limit=PREVIEWS)
    return 0.0 if room else max(1, wait) / 1000


def draw(store: redis.Redis, pool: Pool, account: str) -> None:
    """Take one from a pool of the account's that is counted. Raises PoolExhausted."""
    if pool is Pool.PREVIEWS:
        grant = take(store, pool.of(account), Lane.PERSON, limit=PREVIEWS)
        if not grant.granted:
            raise PoolExhausted(grant.wait)


def wait_for(
    store: redis.Redis, name: str, lane: Lane, timeout: float, *, limit: int = DEFAULT_LIMIT
) -> Grant:
    """Take one request, waiting up to `timeout` seconds for it.

    Raises AllowanceExhausted as soon as it is certain that the time will not do.
    """
    until = time.monotonic() + timeout
    while not (grant := take(store, name, lane, limit=limit)).granted:
        if time.monotonic() + grant.wait > until:
            raise AllowanceExhausted(grant.wait)
        # Short waits: the bucket may have been paused or filled meanwhile.
        Event().wait(min(grant.wait, 0.5))
    return grant


def sent(store: redis.Redis, name: str, grant: Grant) -> None:
    """The granted request is out. The service counts it when it comes: one that left late, behind
    a lock of the database or with a large file, is counted from now."""
    if time.monotonic() - grant.since > LATE:
        _run(store, name, "restamp", grant.number)


def correct(
    store: redis.Redis, name: str, limit: int, remaining: int, *, at: int | None = None
) -> None:
    """Learn from an answer's X-RateLimit headers, of refusals too.

    It takes away what others used and never gives back: an answer's count may be older than
    requests that are still under way.
    """
    _run(store, name, "correct", max(1, limit), max(0, remaining), at=at)


def pause(store: redis.Redis, name: str, seconds: float, *, at: int | None = None) -> None:
    """Grant nothing for that long, after a 429. A longer pause stays."""
    _run(store, name, "pause", round(min(max(seconds, 0.0), LONGEST_PAUSE) * 1000), at=at)


def paused(store: redis.Redis, name: str) -> float:
    """Seconds for which nothing is granted."""
    return _run(store, name, "paused")[0] / 1000


def peek(store: redis.Redis, name: str) -> Level:
    """What a person's request would find. Takes nothing."""
    limit, left, resets_in = _run(store, name, "peek")
    return Level(limit, left, resets_in / 1000)


def connection() -> redis.Redis:
    """The Redis of this process."""
    return redis_client.connect()


def _numbers(lane: Lane) -> list[int]:
    share = _SHARES[lane]
    people = lane == Lane.PERSON
    return [int(number) for number in (*share[:6], people, lane)]


def _keys(name: str) -> list[str]:
    return ["allowance:epoch", f"allowance:{name}", f"allowance:{name}:log"]


def _run(
    store: redis.Redis,
    name: str,
    verb: str,
    *numbers: int,
    limit: int = DEFAULT_LIMIT,
    at: int | None = None,
) -> list[int]:
    script = store.register_script(_LUA)
    now = "" if at is None else at
    try:
        answer = script(keys=_keys(name), args=[verb, WINDOW, limit, now, *numbers])
    except redis.RedisError:
        pass
    else:
        return cast(list[int], answer)
    raise AllowanceUnknown(1.0)
