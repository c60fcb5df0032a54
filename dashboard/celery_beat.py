"""The beat: one at a time by a lock in Redis. It goes on where it lost the lock or the schedule,
where Redis was away, and where the clock was put back. It holds back while no worker takes what it
rings for."""

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
MAX_QUEUE_LENGTH = 1000  # messages in a queue; then nobody serves it, or who does is far behind
CLOCK_ROLLBACK_TOLERANCE = timedelta(
    seconds=2
)  # a clock that is so much behind its last beat was put back
REDIS_RETRY_S = 1.0  # seconds between two tries of a Redis that does not answer


class HealthReportingLock(Lock):
    """Each try that Redis answers shows that this beat goes on, also while another one has it."""

    def do_acquire(self, token: str) -> bool:
        is_acquired = bool(super().do_acquire(token))
        touch_health_file()
        return is_acquired


class ResilientScheduler(RedBeatScheduler):  # type: ignore[misc]  # it has no types
    """A laptop that slept is later than its lock, and a flushed Redis knows neither of the two.

    Then it waits in line for the lock, for another beat may have it, and writes the schedule down
    again. The library's own would end here, and `make run` with it; so it would where Redis does
    not answer. It would also wait until a clock that was put back is there again.
    """

    is_schedule_unconfirmed = (
        False  # whether the schedule is written down: Redis was away, and may come back empty
    )

    def __init__(self, app: Any, **options: Any) -> None:
        super().__init__(app, **options)
        client = get_redis(app)  # the one that the library makes its lock with
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
                log.warning("Redis is away; the beat waits for it")
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
        self, entry: RedBeatSchedulerEntry, producer: Any = None, advance: bool = True, **named: Any
    ) -> Any:
        """What expires stands in its queue until a worker takes it: without one, Redis would grow
        by some megabytes an hour."""
        if self.queue_length(entry) < MAX_QUEUE_LENGTH:
            return super().apply_async(entry, producer, advance, **named)
        return self.reserve(entry) if advance else None

    def queue_length(self, entry: RedBeatSchedulerEntry) -> int:
        """The messages in the queue that a row of the schedule goes to."""
        queue = self.app.amqp.router.route(entry.options, entry.task)["queue"].name
        prefix = self.app.conf.broker_transport_options.get("global_keyprefix", "")
        return int(get_redis(self.app).llen(f"{prefix}{queue}"))

    def reschedule_future_runs(self) -> None:
        """What ran last in what is the future now counts from now."""
        for name in self.app.conf.beat_schedule:
            with suppress(KeyError):  # it is not written down yet
                key = RedBeatSchedulerEntry.generate_key(self.app, name)
                entry = RedBeatSchedulerEntry.from_key(key, app=self.app)
                if entry.last_run_at > self.app.now():
                    entry.reschedule()
