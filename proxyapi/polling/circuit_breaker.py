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
from datetime import timedelta

import redis
from django.utils import timezone

from proxyapi import calls
from proxyapi.models import Job, JobState
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

OUTAGE_FAILURE_COUNT = 3  # looks in a row
# A silence about fewer videos than that counts as the service's for so long.
MAX_FEW_JOBS_OUTAGE = timedelta(days=1)
FAILURE_COUNT_TTL_S = 120  # seconds since the last look that failed
LAST_OUTAGE_TTL_S = 172_800  # seconds since it was away; longer than what a job is given up for
PROBE_INTERVAL_S = 5  # seconds
HALF_OPEN_SLOT_TTL_S = 40  # seconds that one look may take
OUTAGE_ERRORS = (errors.NotSent, errors.ResponseLost, errors.ServerError)


def is_outage_error(error: errors.UpstreamError) -> bool:
    """Whether an error says that nobody was there to answer."""
    return isinstance(error, OUTAGE_ERRORS) and not isinstance(error, calls.LOCAL_ERRORS)


def record_unanswered_poll(environment: str, lasting: timedelta = timedelta(0)) -> bool:
    """Count a poll without an answer, for a job that has had none for `lasting`; whether the
    service counts as away from now on."""
    if lasting > MAX_FEW_JOBS_OUTAGE and has_few_running_jobs(environment):
        close_circuit(environment)  # it may be there for others
        return False
    try:
        with connect_redis().pipeline(transaction=True) as pipeline:
            pipeline.incr(_failure_count_key(environment))
            pipeline.expire(_failure_count_key(environment), FAILURE_COUNT_TTL_S)
            is_now_away = int(pipeline.execute()[0]) >= OUTAGE_FAILURE_COUNT
        if is_now_away:
            connect_redis().set(
                _last_outage_key(environment), timezone.now().timestamp(), ex=LAST_OUTAGE_TTL_S
            )
    except redis.RedisError:
        return False
    return is_now_away


def has_few_running_jobs(environment: str) -> bool:
    """Whether so few videos are watched that their records alone may be broken."""
    running = Job.objects.filter(account__environment=environment, state=JobState.RUNNING)
    return len(running.values_list("pk", flat=True)[:OUTAGE_FAILURE_COUNT]) < OUTAGE_FAILURE_COUNT


def time_since_outage(environment: str) -> timedelta:
    """Since a poll found the service away; `timedelta.max` where no outage is known."""
    with suppress(redis.RedisError):
        if last := connect_redis().get(_last_outage_key(environment)):
            return timedelta(seconds=max(0.0, timezone.now().timestamp() - float(last)))
    return timedelta.max


def close_circuit(environment: str) -> None:
    """Whatever was answered: the service is there."""
    with suppress(redis.RedisError):
        connect_redis().delete(_failure_count_key(environment))


def is_circuit_open(environment: str) -> bool:
    try:
        return (
            int(connect_redis().get(_failure_count_key(environment)) or 0) >= OUTAGE_FAILURE_COUNT
        )
    except redis.RedisError:
        return False


def acquire_probe_turn(environment: str) -> bool:
    """Whether it is this caller's turn to have a service asked that is away."""
    try:
        if connect_redis().exists(_half_open_key(environment)):
            return False
        return bool(
            connect_redis().set(
                f"{_failure_count_key(environment)}:probe", 1, nx=True, ex=PROBE_INTERVAL_S
            )
        )
    except redis.RedisError:
        return False


@contextmanager
def half_open_slot(environment: str) -> Iterator[bool]:
    """Whether a look may be sent: of a service that is away, while nobody else waits for it."""
    is_mine = False
    if is_circuit_open(environment):
        with suppress(redis.RedisError):
            is_mine = bool(
                connect_redis().set(
                    _half_open_key(environment), 1, nx=True, ex=HALF_OPEN_SLOT_TTL_S
                )
            )
        if not is_mine:
            yield False
            return
    try:
        yield True
    finally:
        if is_mine:
            with suppress(redis.RedisError):
                connect_redis().delete(_half_open_key(environment))


def _half_open_key(environment: str) -> str:
    return f"{_failure_count_key(environment)}:asking"


def _last_outage_key(environment: str) -> str:
    return f"{_failure_count_key(environment)}:last"


def _failure_count_key(environment: str) -> str:
    return f"watching:unanswered:{environment}"
