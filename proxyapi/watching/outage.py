"""Whether a service answers. While it does not, one look asks for all.

Three looks in a row without an answer, whoever's they were, and the rest wait, those that workers
are about to take up as well: one worker at most is kept busy by time-outs, and nobody stampedes
when the service is back, for the jobs that waited are due, and each token goes through them with
its own allowance. Where so few are watched that their records alone may be broken, it is an outage
for a day. A flushed Redis forgets the outage, and the next three looks find it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf

import redis
from django.utils import timezone

from proxyapi import calls
from proxyapi.models import Job, JobState
from proxyapi.rate_limiter import redis_connection
from proxyapi.upstream import errors

AWAY_AFTER = 3  # looks in a row
OF_A_FEW = 86_400.0  # seconds that a silence about fewer videos than that counts as the service's
REMEMBERED = 120  # seconds since the last look that failed
KNOWN_FOR = 172_800  # seconds since it was away; longer than what a job is given up for
PROBE_EVERY = 5  # seconds
LONGEST = 40  # seconds that one look may take
UNANSWERED = (errors.NotSent, errors.AnswerLost, errors.ServerError)


def says(error: errors.UpstreamError) -> bool:
    """Whether an error says that nobody was there to answer."""
    return isinstance(error, UNANSWERED) and not isinstance(error, calls.LOCAL_ERRORS)


def failed(environment: str, lasts: float = 0) -> bool:
    """Nobody answered a look at a video, nor those of `lasts` seconds before; whether the service
    counts as away from now on."""
    if lasts > OF_A_FEW and are_few(environment):
        answered(environment)  # it may be there for others
        return False
    try:
        with redis_connection().pipeline(transaction=True) as pipeline:
            pipeline.incr(_count(environment))
            pipeline.expire(_count(environment), REMEMBERED)
            is_now_away = int(pipeline.execute()[0]) >= AWAY_AFTER
        if is_now_away:
            redis_connection().set(_last(environment), timezone.now().timestamp(), ex=KNOWN_FOR)
    except redis.RedisError:
        return False
    return is_now_away


def are_few(environment: str) -> bool:
    """Whether so few videos are watched that their records alone may be broken."""
    running = Job.objects.filter(account__environment=environment, state=JobState.RUNNING)
    return len(running.values_list("pk", flat=True)[:AWAY_AFTER]) < AWAY_AFTER


def over_for(environment: str) -> float:
    """Seconds since a look found the service away; without end where nobody knows of one."""
    with suppress(redis.RedisError):
        if last := redis_connection().get(_last(environment)):
            return max(0.0, timezone.now().timestamp() - float(last))
    return inf


def answered(environment: str) -> None:
    """Whatever was answered: the service is there."""
    with suppress(redis.RedisError):
        redis_connection().delete(_count(environment))


def is_away(environment: str) -> bool:
    try:
        return int(redis_connection().get(_count(environment)) or 0) >= AWAY_AFTER
    except redis.RedisError:
        return False


def may_probe(environment: str) -> bool:
    """Whether it is this caller's turn to have a service asked that is away."""
    try:
        if redis_connection().exists(_asking(environment)):
            return False
        return bool(
            redis_connection().set(f"{_count(environment)}:probe", 1, nx=True, ex=PROBE_EVERY)
        )
    except redis.RedisError:
        return False


@contextmanager
def one_at_a_time(environment: str) -> Iterator[bool]:
    """Whether a look may be sent: of a service that is away, while nobody else waits for it."""
    is_mine = False
    if is_away(environment):
        with suppress(redis.RedisError):
            is_mine = bool(redis_connection().set(_asking(environment), 1, nx=True, ex=LONGEST))
        if not is_mine:
            yield False
            return
    try:
        yield True
    finally:
        if is_mine:
            with suppress(redis.RedisError):
                redis_connection().delete(_asking(environment))


def _asking(environment: str) -> str:
    return f"{_count(environment)}:asking"


def _last(environment: str) -> str:
    return f"{_count(environment)}:last"


def _count(environment: str) -> str:
    return f"watching:unanswered:{environment}"
