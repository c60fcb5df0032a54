"""The circuit breaker of an upstream: whether it answers, and which polls are sent while it does
not.

Three polls in a row without an answer, of any jobs, open the circuit. Then one probe at a time is
sent for all jobs, so at most one worker waits for a timeout. When the upstream answers again the
waiting jobs are due, each under its own token's limit. If so few jobs run that only their records
may be broken, the circuit stays open for a day at most. Flushing Redis closes it, and the next
three unanswered polls open it again.
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
# With fewer running jobs than that, missing answers count as an outage for this long.
MAX_FEW_JOBS_OUTAGE = timedelta(days=1)
FAILURE_COUNT_TTL_S = 120  # seconds since the last poll that failed
LAST_OUTAGE_TTL_S = 172_800  # seconds since the outage; longer than `BROKEN_RECORD_AFTER`
PROBE_INTERVAL_S = 5  # seconds
HALF_OPEN_SLOT_TTL_S = 40  # seconds that one poll may take
OUTAGE_ERRORS = (errors.NotSent, errors.ResponseLost, errors.ServerError)
T = TypeVar("T")


def is_outage_error(error: errors.UpstreamError) -> bool:
    """Whether the error means that the upstream did not answer."""
    is_answered = isinstance(error, (*calls.LOCAL_ERRORS, errors.ForeignRecord))
    return isinstance(error, OUTAGE_ERRORS) and not is_answered


def record_unanswered_poll(environment: str, failing_for: timedelta = timedelta(0)) -> bool:
    """Count a poll without an answer, of a job without one for `failing_for`. Return whether the
    circuit is open now."""
    if failing_for > MAX_FEW_JOBS_OUTAGE and has_few_running_jobs(environment):
        close_circuit(environment)  # the upstream may answer for other jobs
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
    """Time since the circuit was last found open; `timedelta.max` without a known outage."""
    key = f"{_failure_count_key(environment)}:last"
    if last := run_on_redis(lambda store: store.get(key), otherwise=None):
        return timedelta(seconds=max(0.0, timezone.now().timestamp() - float(last)))
    return timedelta.max


def close_circuit(environment: str) -> None:
    """Close the circuit; any answer, also a refusal, proves that the upstream is reachable."""
    run_on_redis(lambda store: store.delete(_failure_count_key(environment)), otherwise=0)


def is_circuit_open(environment: str) -> bool:
    key = _failure_count_key(environment)
    return run_on_redis(
        lambda store: int(store.get(key) or 0) >= OUTAGE_FAILURE_COUNT, otherwise=False
    )


def acquire_probe_turn(environment: str) -> bool:
    """Return True if the caller may send the next probe."""
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
    """Yield whether a poll may be sent. With an open circuit only one poll may wait for an
    answer."""
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
    """Return the command's result, or `otherwise` if Redis is unavailable."""
    try:
        return command(connect_redis())
    except redis.RedisError:
        return otherwise


def _half_open_key(environment: str) -> str:
    return f"{_failure_count_key(environment)}:asking"


def _failure_count_key(environment: str) -> str:
    return f"polling:failures:{environment}"
