"""The circuit breaker of a service: whether it answers, and who asks while it does not.

Three polls in a row without an answer, of whatever jobs, open the circuit. Then one probe at a time
is sent for all: one worker at most waits for a time-out, and when the service is back the jobs that
waited are due, each under its own token's limit. Where so few jobs run that their records alone may
be broken, the circuit opens for a day at most. A flushed Redis closes it, and the next three polls
open it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import redis
from django.utils import timezone

from proxyapi import calls
from proxyapi.models import Job, JobState
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import errors

OUTAGE_FAILURE_COUNT = 3  # polls in a row
# A silence about fewer videos than that counts as the service's for so long.
MAX_FEW_JOBS_OUTAGE = timedelta(days=1)
FAILURE_COUNT_TTL_S = 120  # seconds since the last poll that failed
LAST_OUTAGE_TTL_S = 172_800  # seconds since it was away; longer than what a job is given up for
PROBE_INTERVAL_S = 5  # seconds
HALF_OPEN_SLOT_TTL_S = 40  # seconds that one poll may take
OUTAGE_ERRORS = (errors.NotSent, errors.ResponseLost, errors.ServerError)
T = TypeVar("T")


def is_outage_error(error: errors.UpstreamError) -> bool:
    """Whether an error says that nobody was there to answer."""
    return isinstance(error, OUTAGE_ERRORS) and not isinstance(error, calls.LOCAL_ERRORS)


def record_unanswered_poll(environment: str, lasting: timedelta = timedelta(0)) -> bool:
    """Count a poll without an answer, for a job that has had none for `lasting`; whether the
    circuit is open from now on."""
    if lasting > MAX_FEW_JOBS_OUTAGE and has_few_running_jobs(environment):
        close_circuit(environment)  # the service may answer others
        return False
    return run_on_redis(lambda store: _count_failure(store, environment), otherwise=False)


def _count_failure(store: redis.Redis, environment: str) -> bool:
    key = _failure_count_key(environment)
    with store.pipeline(transaction=True) as pipeline:
        pipeline.incr(key)
        pipeline.expire(key, FAILURE_COUNT_TTL_S)
        is_open = int(pipeline.execute()[0]) >= OUTAGE_FAILURE_COUNT
    if is_open:
        store.set(f"{key}:last", timezone.now().timestamp(), ex=LAST_OUTAGE_TTL_S)
    return is_open


def has_few_running_jobs(environment: str) -> bool:
    """Whether so few jobs run that their records alone may be broken."""
    running = Job.objects.filter(account__environment=environment, state=JobState.RUNNING)
    return len(running.values_list("pk", flat=True)[:OUTAGE_FAILURE_COUNT]) < OUTAGE_FAILURE_COUNT


def time_since_outage(environment: str) -> timedelta:
    """Since the circuit was last seen open; `timedelta.max` where no outage is known."""
    key = f"{_failure_count_key(environment)}:last"
    if last := run_on_redis(lambda store: store.get(key), otherwise=None):
        return timedelta(seconds=max(0.0, timezone.now().timestamp() - float(last)))
    return timedelta.max


def close_circuit(environment: str) -> None:
    """Whatever was answered: the service is there."""
    run_on_redis(lambda store: store.delete(_failure_count_key(environment)), otherwise=0)


def is_circuit_open(environment: str) -> bool:
    key = _failure_count_key(environment)
    return run_on_redis(
        lambda store: int(store.get(key) or 0) >= OUTAGE_FAILURE_COUNT, otherwise=False
    )


def acquire_probe_turn(environment: str) -> bool:
    """Whether the caller is the one to send the next probe."""
    key = f"{_failure_count_key(environment)}:probe"
    return run_on_redis(
        lambda store: (
            not store.exists(_half_open_key(environment))
            and bool(store.set(key, 1, nx=True, ex=PROBE_INTERVAL_S))
        ),
        otherwise=False,
    )


@contextmanager
def half_open_slot(environment: str) -> Iterator[bool]:
    """Whether a poll may be sent: with an open circuit, while no other one waits for its answer."""
    key, is_probe = _half_open_key(environment), is_circuit_open(environment)
    if is_probe and not run_on_redis(
        lambda store: bool(store.set(key, 1, nx=True, ex=HALF_OPEN_SLOT_TTL_S)), otherwise=False
    ):
        yield False
        return
    try:
        yield True
    finally:
        if is_probe:
            run_on_redis(lambda store: store.delete(key), otherwise=0)


def run_on_redis(command: Callable[[redis.Redis], T], *, otherwise: T) -> T:
    """The command's answer; `otherwise` while Redis is away."""
    try:
        return command(connect_redis())
    except redis.RedisError:
        return otherwise


def _half_open_key(environment: str) -> str:
    return f"{_failure_count_key(environment)}:asking"


def _failure_count_key(environment: str) -> str:
    return f"watching:unanswered:{environment}"
