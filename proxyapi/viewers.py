"""Which teams and videos are viewed now: open pages mark them for `VIEWER_TTL_S` seconds. How many
event streams each process has open is kept as long.

After a Redis flush the marks are missing until the pages set them again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import cast
from uuid import UUID, uuid4

import redis

from proxyapi.redis_client import connect_redis

VIEWER_TTL_S = 20  # seconds; an open page renews the mark sooner
# Factors of a poll's expected staleness.
UNWATCHED_WEIGHT, TEAM_WATCHED_WEIGHT, VIDEO_WATCHED_WEIGHT = (
    1.0,
    1.5,
    4.0,
)
STREAMS_KEY = "polling:streams"
_PROCESS_ID = str(uuid4())


def record_viewers(
    tenants: Collection[UUID], videos: Collection[tuple[UUID, UUID]] = ()
) -> list[UUID]:
    """Mark these tenants and videos (tenant, job) as viewed, and return the tenants that were not.
    Does nothing without Redis."""
    teams = list(tenants)
    keys = [_team_key(tenant) for tenant in teams] + [_video_key(*video) for video in videos]
    if not keys:
        return []
    try:
        with connect_redis().pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.set(key, 1, ex=VIEWER_TTL_S, get=True)
            marks = pipeline.execute()
    except redis.RedisError:
        return []
    return [tenant for tenant, mark in zip(teams, marks, strict=False) if mark is None]


def is_viewed(tenant: UUID) -> bool:
    """Whether a page of the team is open; assumed without Redis."""
    try:
        return bool(connect_redis().exists(_team_key(tenant)))
    except redis.RedisError:
        return True


def viewer_weights(jobs: Sequence[tuple[UUID, UUID]]) -> list[float]:
    """The weight of each job (tenant, job), higher while its team or the video itself is viewed."""
    if not jobs:
        return []
    keys = [_team_key(tenant) for tenant, _ in jobs] + [_video_key(*job) for job in jobs]
    try:
        open_pages = [bool(mark) for mark in connect_redis().mget(keys)]
    except redis.RedisError:
        return [UNWATCHED_WEIGHT] * len(jobs)
    pairs = zip(open_pages[: len(jobs)], open_pages[len(jobs) :], strict=True)
    return [
        VIDEO_WATCHED_WEIGHT if video else TEAM_WATCHED_WEIGHT if team else UNWATCHED_WEIGHT
        for team, video in pairs
    ]


def record_streams(count: int) -> None:
    """Store how many streams this process has open. A process without one says nothing."""
    with suppress(redis.RedisError), connect_redis().pipeline(transaction=False) as pipeline:
        pipeline.hset(STREAMS_KEY, _PROCESS_ID, f"{time.time()} {count}")
        pipeline.expire(STREAMS_KEY, VIEWER_TTL_S)
        pipeline.execute()


def count_streams() -> int:
    """The open streams of all processes, seconds ago. Raises `redis.RedisError`."""
    total, old = 0, []
    counts = cast(dict[bytes, bytes], connect_redis().hgetall(STREAMS_KEY))
    for process, value in counts.items():
        at, count = value.split()
        if time.time() - float(at) > VIEWER_TTL_S:
            old.append(process)
        else:
            total += int(count)
    if old:
        connect_redis().hdel(STREAMS_KEY, *old)
    return total


def _team_key(tenant: UUID) -> str:
    return f"polling:viewers:{tenant}"


def _video_key(tenant: UUID, job: UUID) -> str:
    return f"polling:viewers:{tenant}:{job}"
