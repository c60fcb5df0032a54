"""The rate limiter: one bucket of requests a minute for each token, in Redis, shared by every
process.

Contract: nothing calls the upstream without a permit (rule 5). In any 60 seconds a token gets at
most its limit of requests: 30 until an answer's headers state another (spec, "Limits"). The bucket
is a log of the requests of the last minute, kept by one Lua script on the Redis server's clock. Any
error is towards fewer requests than allowed, so it holds for sliding and for fixed minutes; the
spec does not say which the upstream counts. A request that is sent long after its permit counts
from its sending (`restamp_late_permit`).

Priorities: a lower priority leaves a reserve to those above it. Polling uses what people leave
unused, except two requests for the next click, a third that becomes available in time for the last
of three clicks, and more if people click a lot
(docs/decisions/0012-polling-uses-spare-requests.md). The lowest priorities are spread over the
minute, so that its first seconds do not use up what the others need. What prepares and sends the
rows of a batch is one of them: nobody waits for a single row, and a press beside it takes up to
three requests at once.

A flushed or new Redis does not know the earlier requests. For its first minute a bucket therefore
grants one request every two seconds, the first at once, until the headers of an answer state how
many are left. If the upstream counts in fixed minutes, that may be more than was left of the last
sixty seconds, and is allowed.

Two smaller limits are separate (`RatePool`): previews, five a minute, and the scraping pool, whose
429 pauses scraping and nothing else (spec, "Limits"; pitfalls 27 and 28).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from threading import Event
from typing import NamedTuple, cast

import redis

from proxyapi.operations import RatePool

DEFAULT_REQUESTS_PER_MINUTE = 30  # the spec's default
# Two requests granted a minute apart can arrive upstream less than a minute apart.
WINDOW_MS = 61_000
RESTAMP_AFTER_S = 0.5  # seconds from the grant; the rest of that second is for the network
MAX_PAUSE_S = 3600.0
PREVIEWS_PER_MINUTE = 5  # the spec's figure

_LUA_SCRIPT = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")


class Priority(IntEnum):
    """Classes of traffic; the smaller value goes first."""

    PERSON = 0
    GATEWAY = 1
    SETTLEMENT = 2
    POLLING = 3
    BATCH = 4
    LEDGER_SYNC = 5


class _PriorityPolicy(NamedTuple):
    reserve_percent: int  # percent of the limit that this priority leaves free
    is_adaptive: bool  # it leaves more if people have sent much in the last minutes
    max_rate_percent: int  # percent of the limit that it gets a minute at most; 0: all of it
    burst: int  # how many of them at once
    starvation_s: int  # seconds without a request, then it goes before all but people; 0: never
    replenish_ms: int  # milliseconds within which one more becomes free than it leaves now; 0: none
    rationale: str


_PRIORITY_POLICIES = {
    Priority.PERSON: _PriorityPolicy(0, False, 0, 0, 0, 0, "Somebody is waiting."),
    Priority.GATEWAY: _PriorityPolicy(
        4, False, 80, 12, 0, 0, "At most 12 at once, so that people are not blocked."
    ),
    Priority.SETTLEMENT: _PriorityPolicy(
        4, False, 60, 10, 0, 0, "Before any poll, but 18 a minute at most."
    ),
    Priority.POLLING: _PriorityPolicy(
        7, True, 92, 2, 0, 1500, "2 stay free, a third within 1.5 s; 27 a minute."
    ),
    Priority.BATCH: _PriorityPolicy(
        10, True, 80, 3, 60, 1500, "3 stay free, a fourth within 1.5 s; 24 a minute."
    ),
    Priority.LEDGER_SYNC: _PriorityPolicy(
        60, True, 40, 3, 30, 0, "The ledger may be outdated, but one request each 30 s."
    ),
}


@dataclass(frozen=True, slots=True)
class Permit:
    """Whether the request may be sent; if not, `wait_s` is the minimum of seconds to wait.

    `log_number` is its place in the bucket's log, to count it from its real sending.
    """

    is_granted: bool
    wait_s: float
    log_number: int = 0
    requested_at_s: float = field(default_factory=time.monotonic, compare=False)
    priority: Priority | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BucketLevel:
    """Requests a minute, requests left now, and seconds until all of them are available again."""

    limit: int
    remaining: int
    resets_in_s: float


class RateLimitExhausted(Exception):
    """Nothing was sent. `wait` is the seconds until another attempt makes sense."""

    def __init__(self, wait: float) -> None:
        super().__init__(f"rate limit exhausted for {wait:.1f} s")
        self.wait = wait

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent. The rate limit of this token is used up. The next request can be "
            f"sent in {max(1, round(self.wait))} s."
        )


class RatePoolExhausted(RateLimitExhausted):
    """A limit other than the token's is exhausted; everything else continues."""

    @property
    def user_message(self) -> str:
        return (
            "Nothing was sent. The service allows only a few requests of this kind per minute. "
            f"The next one can be sent in {max(1, round(self.wait))} s."
        )


class RateLimiterUnavailable(RateLimitExhausted):
    """Redis does not answer: without the count nothing is sent."""

    @property
    def user_message(self) -> str:
        return "Nothing was sent. The rate limiter is not responding."


def try_acquire(
    store: redis.Redis,
    name: str,
    lane: Priority,
    *,
    cost: int = 1,
    limit: int = DEFAULT_REQUESTS_PER_MINUTE,
    at: int | None = None,
) -> Permit:
    """Take `cost` requests from the bucket, all of them or none, without waiting.

    `limit` holds until an answer states another. `at` is the time in milliseconds, for simulations.
    """
    since = time.monotonic()
    granted, wait, number = _run_script(
        store, name, "take", cost, *_policy_numbers(lane), limit=limit, at=at
    )
    return Permit(bool(granted), wait / 1000, number, since, lane)


def available(store: redis.Redis, name: str, lane: Priority, *, at: int | None = None) -> int:
    """How many requests this priority would be granted now. Takes none."""
    return _run_script(store, name, "room", *_policy_numbers(lane), at=at)[0]


def available_many(store: redis.Redis, names: Sequence[str], lane: Priority) -> list[int]:
    """The available requests of several buckets, in one round trip."""
    arguments: list[str | int] = [
        "room",
        WINDOW_MS,
        DEFAULT_REQUESTS_PER_MINUTE,
        "",
        *_policy_numbers(lane),
    ]
    script = store.register_script(_LUA_SCRIPT)
    try:
        with store.pipeline(transaction=False) as pipeline:
            for name in names:
                script(keys=_bucket_keys(name), args=arguments, client=pipeline)
            return [answer[0] for answer in pipeline.execute()]
    except redis.RedisError:
        pass
    raise RateLimiterUnavailable(1.0)


def wait_for_pool(store: redis.Redis, pool: RatePool, account: str, timeout: float) -> None:
    """Wait up to `timeout` seconds until the account's pool has a request left, and take none.

    The size of the scraping pool is not documented: it is available until a 429 pauses it. Raises
    `RatePoolExhausted`.
    """
    until = time.monotonic() + timeout
    while (wait := _pool_wait_s(store, pool, account)) > 0:
        if time.monotonic() + wait > until:
            raise RatePoolExhausted(wait)
        Event().wait(min(wait, 0.5))


def _pool_wait_s(store: redis.Redis, pool: RatePool, account: str) -> float:
    name = pool.bucket_name(account)
    if pool is RatePool.SCRAPING:
        return bucket_pause_s(store, name)
    available_count, wait = _run_script(
        store, name, "room", *_policy_numbers(Priority.PERSON), limit=PREVIEWS_PER_MINUTE
    )
    return 0.0 if available_count else max(1, wait) / 1000


@dataclass(frozen=True, slots=True)
class PoolLevel:
    """Requests a minute of a counted pool, requests left now, and seconds until the next one."""

    limit: int
    remaining: int
    next_in_s: float


def peek_preview_pool(store: redis.Redis, account: str) -> PoolLevel:
    """What is left of the account's previews. Takes none."""
    name, policy = RatePool.PREVIEWS.bucket_name(account), _policy_numbers(Priority.PERSON)
    remaining, wait = _run_script(store, name, "room", *policy, limit=PREVIEWS_PER_MINUTE)
    return PoolLevel(PREVIEWS_PER_MINUTE, remaining, 0.0 if remaining else max(1, wait) / 1000)


def take_from_pool(store: redis.Redis, pool: RatePool, account: str) -> None:
    """Take one request from a counted pool of the account. Raises `RatePoolExhausted`."""
    if pool is RatePool.PREVIEWS:
        grant = try_acquire(
            store, pool.bucket_name(account), Priority.PERSON, limit=PREVIEWS_PER_MINUTE
        )
        if not grant.is_granted:
            raise RatePoolExhausted(grant.wait_s)


def acquire(store: redis.Redis, name: str, lane: Priority, timeout: float) -> Permit:
    """Take one request, waiting up to `timeout` seconds for it.

    Raises `RateLimitExhausted` as soon as it is certain that the time is too short.
    """
    until = time.monotonic() + timeout
    while not (grant := try_acquire(store, name, lane)).is_granted:
        if time.monotonic() + grant.wait_s > until:
            raise RateLimitExhausted(grant.wait_s)
        # Short waits, because the bucket may be paused or refilled meanwhile.
        Event().wait(min(grant.wait_s, 0.5))
    return grant


def restamp_late_permit(store: redis.Redis, name: str, grant: Permit) -> None:
    """Count a permitted request from now if it was sent late, because of a database lock or a large
    upload: the upstream counts it when it arrives."""
    if time.monotonic() - grant.requested_at_s > RESTAMP_AFTER_S:
        _run_script(store, name, "restamp", grant.log_number)


def apply_rate_limit_headers(
    store: redis.Redis, name: str, limit: int, remaining: int, *, at: int | None = None
) -> None:
    """Apply the X-RateLimit headers of an answer, also of an error.

    This removes requests that others used and never adds any: an answer's count may be older than
    requests that are in progress.
    """
    _run_script(store, name, "correct", max(1, limit), max(0, remaining), at=at)


def pause_bucket(store: redis.Redis, name: str, seconds: float, *, at: int | None = None) -> None:
    """Grant nothing for `seconds` after a 429. A longer pause stays as it is."""
    _run_script(store, name, "pause", round(min(max(seconds, 0.0), MAX_PAUSE_S) * 1000), at=at)


def bucket_pause_s(store: redis.Redis, name: str) -> float:
    """Seconds for which nothing is granted."""
    return _run_script(store, name, "paused")[0] / 1000


def peek_bucket(store: redis.Redis, name: str) -> BucketLevel:
    """The requests left for a person. Takes none."""
    limit, left, resets_in = _run_script(store, name, "peek")
    return BucketLevel(limit, left, resets_in / 1000)


def reserved_for_people(limit: int) -> int:
    """Return how many of `limit` requests polling leaves free for the next click."""
    return limit * _PRIORITY_POLICIES[Priority.POLLING].reserve_percent // 100


def _policy_numbers(lane: Priority) -> list[int]:
    policy = _PRIORITY_POLICIES[lane]
    is_person = lane == Priority.PERSON
    return [int(number) for number in (*policy[:6], is_person, lane)]


def _bucket_keys(name: str) -> list[str]:
    return ["rate-limit:epoch", f"rate-limit:{name}", f"rate-limit:{name}:log"]


def _run_script(
    store: redis.Redis,
    name: str,
    verb: str,
    *numbers: int,
    limit: int = DEFAULT_REQUESTS_PER_MINUTE,
    at: int | None = None,
) -> list[int]:
    script = store.register_script(_LUA_SCRIPT)
    now = "" if at is None else at
    try:
        answer = script(keys=_bucket_keys(name), args=[verb, WINDOW_MS, limit, now, *numbers])
    except redis.RedisError:
        pass
    else:
        return cast(list[int], answer)
    raise RateLimiterUnavailable(1.0)
