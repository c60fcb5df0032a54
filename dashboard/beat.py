"""The beat: one at a time by a lock in Redis. It goes on where it lost the lock or the schedule."""

from __future__ import annotations

from typing import Any

from redbeat import RedBeatScheduler
from redis.exceptions import LockError


class Scheduler(RedBeatScheduler):  # type: ignore[misc]  # it has no types
    """A laptop that slept is later than its lock, and a flushed Redis knows neither of the two.

    Then it waits in line for the lock, for another beat may have it, and writes the schedule down
    again. The library's own would end here, and `make run` with it.
    """

    def tick(self, *args: Any, **options: Any) -> float:
        try:
            return float(super().tick(*args, **options))
        except LockError:
            self.lock.acquire()
            self.setup_schedule()
            return 0.0
