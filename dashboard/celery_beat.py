"""The beat scheduler; a lock in Redis keeps it to one process at a time. It recovers from a lost
lock, a lost schedule, an unreachable Redis and a clock that was set back, and it skips queues that
no worker consumes."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import redis
from redbeat import RedBeatScheduler, RedBeatSchedulerEntry
from redbeat.schedulers import get_redis
from redis.exceptions import LockError
from redis.lock import Lock

from dashboard.monitoring.heartbeat_file import touch_health_file

log = logging.getLogger(__name__)
MAX_QUEUE_LENGTH = 1000  # messages; a longer queue has no worker, or one that is far behind
# A clock that is this much behind its last beat was set back.
CLOCK_ROLLBACK_TOLERANCE = timedelta(seconds=2)
REDIS_RETRY_S = 1.0  # between two attempts to reach Redis


class HealthReportingLock(Lock):
    """Touches the health file at each attempt that Redis answers, also while another beat holds the
    lock."""

    def do_acquire(self, token: str) -> bool:
        is_acquired = bool(super().do_acquire(token))
        touch_health_file()
        return is_acquired


class ResilientScheduler(RedBeatScheduler):  # type: ignore[misc]  # it has no types
    """A scheduler that acquires the lock again and writes the schedule again when either is lost.

    Both are lost if a machine sleeps longer than the lock lasts, or if Redis is flushed; another
    beat may hold the lock by then. The library's scheduler would end its process there, and `make
    run` with it, and also when Redis does not answer. After a clock that was set back it would wait
    until the old time is reached again.
    """

    is_schedule_unconfirmed = False  # True after a Redis failure: it may come back empty

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        client = get_redis(app)  # the client that the library creates its lock with
        client.lock = partial(client.lock, lock_class=HealthReportingLock)

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self.last = self.app.now()
        self.reschedule_future_runs()

    def tick(self, *args: Any, **options: Any) -> float:
        try:
            if self.is_schedule_unconfirmed:
                self.setup_schedule()
                self.is_schedule_unconfirmed = False
            pause = self.tick_with_recovery(*args, **options)
            touch_health_file()
            return pause
        except (redis.ConnectionError, redis.TimeoutError):
            if not self.is_schedule_unconfirmed:
                log.warning("Redis does not respond; beat keeps retrying")
            self.is_schedule_unconfirmed = True
            return REDIS_RETRY_S

    def tick_with_recovery(self, *args: Any, **options: Any) -> float:
        now = self.app.now()
        if now < self.last - CLOCK_ROLLBACK_TOLERANCE:
            self.reschedule_future_runs()
        self.last = now
        try:
            return float(super().tick(*args, **options))
        except LockError:
            self.lock.acquire()
            self.setup_schedule()
            return 0.0

    def apply_async(
        self,
        entry: RedBeatSchedulerEntry,
        producer: Any = None,
        advance: bool = True,
        **options: Any,
    ) -> Any:
        """Skip the run if the queue is full: without workers, messages would grow Redis by some
        megabytes an hour before they expire."""
        if self.queue_length(entry) < MAX_QUEUE_LENGTH:
            return super().apply_async(entry, producer, advance, **options)
        return self.reserve(entry) if advance else None

    def queue_length(self, entry: RedBeatSchedulerEntry) -> int:
        """The number of messages in the queue of a schedule entry."""
        queue = self.app.amqp.router.route(entry.options, entry.task)["queue"].name
        prefix = self.app.conf.broker_transport_options.get("global_keyprefix", "")
        return int(get_redis(self.app).llen(f"{prefix}{queue}"))

    def reschedule_future_runs(self) -> None:
        """Set entries whose last run is in the future, after the clock was set back, to run from
        now on."""
        for name in self.app.conf.beat_schedule:
            with suppress(KeyError):  # the entry is not stored yet
                key = RedBeatSchedulerEntry.generate_key(self.app, name)
                entry = RedBeatSchedulerEntry.from_key(key, app=self.app)
                if entry.last_run_at > self.app.now():
                    entry.reschedule()
