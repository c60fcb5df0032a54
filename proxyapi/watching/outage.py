"""Whether a service answers. While it does not, one look asks for all.

Three looks in a row without an answer, whoever's they were, and the rest wait: a worker is not
kept busy by time-outs, and nobody stampedes when the service is back, for the jobs that waited are
due, and each token goes through them with its own allowance. A flushed Redis forgets the outage,
and the next three looks find it again.
"""

from __future__ import annotations

from contextlib import suppress

import redis

from proxyapi import calls
from proxyapi.allowance import connection
from proxyapi.upstream import errors

AWAY_AFTER = 3  # looks in a row
REMEMBERED = 120  # seconds since the last look that failed
PROBE_EVERY = 5  # seconds
UNANSWERED = (errors.NotSent, errors.AnswerLost, errors.ServerError)


def says(error: errors.UpstreamError) -> bool:
    """Whether an error says that nobody was there to answer."""
    return isinstance(error, UNANSWERED) and not isinstance(error, calls.OURS)


def failed(environment: str) -> bool:
    """Nobody answered a look; whether the service counts as away from now on."""
    try:
        with connection().pipeline(transaction=True) as pipeline:
            pipeline.incr(_count(environment))
            pipeline.expire(_count(environment), REMEMBERED)
            return int(pipeline.execute()[0]) >= AWAY_AFTER
    except redis.RedisError:
        return False


def answered(environment: str) -> None:
    """Whatever was answered: the service is there."""
    with suppress(redis.RedisError):
        connection().delete(_count(environment))


def is_away(environment: str) -> bool:
    try:
        return int(connection().get(_count(environment)) or 0) >= AWAY_AFTER
    except redis.RedisError:
        return False


def may_probe(environment: str) -> bool:
    """Whether it is this caller's turn to ask a service that is away."""
    try:
        return bool(connection().set(f"{_count(environment)}:probe", 1, nx=True, ex=PROBE_EVERY))
    except redis.RedisError:
        return False


def _count(environment: str) -> str:
    return f"watching:unanswered:{environment}"
