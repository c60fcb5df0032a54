"""Three ways to poll: ours, every job every 5 s, and one job after the other."""

from __future__ import annotations

from collections import deque
from random import Random
from uuid import uuid4

import redis

from proxyapi import rate_limiter
from proxyapi.polling.candidate_selection import PollCandidate, select_stalest
from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S, DurationModel
from proxyapi.rate_limiter import Priority
from tests.bench.polling.simulated_service import LIMIT, RENDER_CLASSES, draw_duration
from tests.bench.polling.simulation import SimulatedJob, SimulatedWorld

KEPT = 64  # durations, as proxyapi/models/render_durations.py keeps them
EARLY = 0.2  # seconds before its time that a tick may take a job; it is sent at its time
EPOCH = 10**12  # milliseconds; where the simulated clock begins


class MeteredPoller:
    """Who asks the real bucket, at the simulated time."""

    def __init__(self, store: redis.Redis, name: str) -> None:
        self._store, self._name = store, name

    def begin(self, world: SimulatedWorld) -> None:
        self._world = world

    def _at(self) -> int:
        return EPOCH + round(self._world.now * 1000)

    def request_permit(self, now: float) -> float:
        return rate_limiter.try_acquire(
            self._store, self._name, Priority.PERSON, at=self._at()
        ).wait_s

    def on_headers(self, now: float, left: int, retry_after: float) -> None:
        rate_limiter.apply_rate_limit_headers(self._store, self._name, LIMIT, left, at=self._at())
        if retry_after:
            rate_limiter.pause_bucket(self._store, self._name, retry_after, at=self._at())


class PortalPoller(MeteredPoller):
    """The real bucket and the real choice. `learned`: with what 64 renders of each sort taught."""

    def __init__(self, store: redis.Redis, *, seed: int, learned: bool, processes: int = 1) -> None:
        super().__init__(store, f"simulated-{seed}-{learned}-{processes}-{uuid4()}")
        self._chance = Random(f"{seed} ours")  # noqa: S311
        self._learns, self._processes = learned, processes
        self._known = [
            deque((draw_duration(self._chance, sort) for _ in range(KEPT * learned)), KEPT)
            for sort in RENDER_CLASSES
        ]
        self._laws = [DurationModel(known) for known in self._known]

    def begin(self, world: SimulatedWorld) -> None:
        super().begin(world)
        for number in range(self._processes):
            world.schedule(number / self._processes, self._tick)

    def _tick(self) -> None:
        world = self._world
        due = [job for job in world.jobs if job.due <= world.now + EARLY]
        if due:
            most = rate_limiter.available(self._store, self._name, Priority.POLLING, at=self._at())
            ages = (
                PollCandidate(
                    job, job.seen - job.started, world.now - job.started, self._laws[job.sort]
                )
                for job in due
            )
            for chosen in select_stalest(ages, most) if most else ():
                self._lease(chosen.id)
        world.schedule(1.0, self._tick)

    def _lease(self, job: SimulatedJob) -> None:
        """A worker begins some hundredths of a second later, and not before the job's time."""
        queued = self._chance.uniform(0.005, 0.05)
        job.due = self._world.now + 15
        self._world.schedule(
            max(queued, job.asked + MIN_POLL_INTERVAL_S - self._world.now),
            lambda: self._poll_job(job),
        )

    def _poll_job(self, job: SimulatedJob) -> None:
        grant = rate_limiter.try_acquire(self._store, self._name, Priority.POLLING, at=self._at())
        if not grant.is_granted:
            job.due = self._world.now + max(1.0, grant.wait_s)
            return
        asked = self._world.now

        def answered() -> None:
            job.seen = asked
            job.due = asked + self._laws[job.sort].next_poll_delay(asked - job.started)

        self._world.send_request(job, answered)

    def on_finished(self, job: SimulatedJob, now: float) -> None:
        if self._learns:
            seen, age = job.seen - job.started, job.asked - job.started
            took = self._laws[job.sort].estimate_duration(seen, age, self._chance)
            self._known[job.sort] += [] if took is None else [took]
            self._laws[job.sort] = DurationModel(self._known[job.sort])


class NaivePoller:
    """Every job every 5 s; a refused request counts as a poll without a result."""

    def begin(self, world: SimulatedWorld) -> None:
        self._world, self._blocked_until = world, 0.0
        self._poll()

    def _poll(self) -> None:
        for job in sorted(self._world.jobs, key=lambda job: job.started):
            if self._world.now >= job.asked + MIN_POLL_INTERVAL_S:
                self._world.send_request(job)
        self._world.schedule(0.1, self._poll)

    def request_permit(self, now: float) -> float:
        return max(0.0, self._blocked_until - now)

    def on_headers(self, now: float, left: int, retry_after: float) -> None:
        """A person's program waits as it was told; the watcher does not."""
        if retry_after:
            self._blocked_until = now + retry_after

    def on_finished(self, job: SimulatedJob, now: float) -> None:
        pass


class SerialPoller(NaivePoller):
    """One job after the other, each request when the last is answered and 2 s are over; it waits
    as a 429 tells."""

    def _poll(self) -> None:
        jobs, now = self._world.jobs, self._world.now
        due = [job for job in jobs if now >= job.asked + MIN_POLL_INTERVAL_S]
        if due and now >= self._blocked_until:
            oldest = min(due, key=lambda job: job.asked)
            self._world.send_request(oldest, lambda: self._world.schedule(2.0, self._poll))
        else:
            self._world.schedule(0.1, self._poll)
