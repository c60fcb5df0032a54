"""One token's world: its jobs start, render and end, three people click, and a poller polls."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Protocol

from tests.bench.polling.simulated_service import (
    RENDER_CLASSES,
    LimiterAnswer,
    SimulatedLimiter,
    draw_duration,
    draw_render_class,
)

PEOPLE, BETWEEN_ACTS = 3, 90.0  # each does something every so many seconds, of 1 to 3 requests
BETWEEN_JOBS = 30.0  # seconds until the next job begins in the place of one that ended
PAGE_READING_S = 0.3  # seconds between two requests of one act
TRIP_SECONDS = (0.02, 0.12)  # seconds that a request, and again its answer, is under way; from, to
WARM_UP = 300.0  # seconds that are not counted


@dataclass(eq=False, slots=True)
class SimulatedJob:
    sort: int
    started: float
    ends: float
    seen: float  # when it was last seen running
    due: float
    asked: float


@dataclass
class PollingTally:
    lags: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refusals: int = 0  # 429s of the watcher's and of the people's requests
    looks: int = 0
    sent: list[float] = field(default_factory=list)


class PollerProtocol(Protocol):
    def begin(self, world: SimulatedWorld) -> None:
        """Set up the poller."""

    def request_permit(self, now: float) -> float:
        """A person's request: 0 when it may be sent, else seconds until it is worth asking."""

    def on_headers(self, now: float, left: int, retry_after: float) -> None:
        """What the headers of an answer say; `retry_after` is 0 but for a 429."""

    def on_finished(self, job: SimulatedJob, now: float) -> None:
        """A poll read the job's end."""


class SimulatedWorld:
    def __init__(
        self, *, jobs: int, kind: str, seed: int, watcher: PollerProtocol, warm_up: float = WARM_UP
    ) -> None:
        self.now, self.jobs, self.tally, self._warm_up = (
            0.0,
            set[SimulatedJob](),
            PollingTally(),
            warm_up,
        )
        self._limiter, self._watcher = SimulatedLimiter(kind), watcher
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        # Each its own, so that another way of polling meets the same jobs and the same clicks.
        self._renders, self._clicks, self._net = (Random(f"{seed} {name}") for name in "rcn")  # noqa: S311
        for _ in range(jobs):
            self.schedule(self._renders.expovariate(1 / BETWEEN_JOBS), self._start)
        for _ in range(PEOPLE):
            self.schedule(self._clicks.expovariate(1 / BETWEEN_ACTS), self._act)
        watcher.begin(self)

    def schedule(self, seconds: float, deed: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._number), deed))

    def run(self, seconds: float) -> PollingTally:
        while self._events[0][0] < seconds:
            self.now, _, deed = heapq.heappop(self._events)
            deed()
        return self.tally

    def _start(self) -> None:
        sort = draw_render_class(self._renders)
        ends = self.now + draw_duration(self._renders, RENDER_CLASSES[sort])
        self.jobs.add(SimulatedJob(sort, self.now, ends, self.now, self.now + 5, self.now))

    def _act(self) -> None:
        self._click(self._clicks.randint(1, 3), self.now)

    def _click(self, left: int, since: float) -> None:
        """A person's next request, sent as soon as it is granted."""
        if left == 0:
            self.schedule(self._clicks.expovariate(1 / BETWEEN_ACTS), self._act)
        elif wait := self._watcher.request_permit(self.now):
            self.schedule(min(wait, 0.5), lambda: self._click(left, since))
        else:
            self._note_wait(self.now - since)
            self.send_request(
                None, lambda: self.schedule(PAGE_READING_S, lambda: self._click(left - 1, self.now))
            )

    def _note_wait(self, wait: float) -> None:
        if self.now > self._warm_up:
            self.tally.waits.append(wait)

    def send_request(
        self, job: SimulatedJob | None, then: Callable[[], None] = lambda: None
    ) -> None:
        """One request: what it asks is answered as it is when it arrives."""
        self._note_sent(job)
        self.schedule(self._net.uniform(*TRIP_SECONDS), lambda: self._arrive(job, then))

    def poll_now(self, job: SimulatedJob) -> tuple[LimiterAnswer, bool]:
        """A look of a watcher that stands still until it has its answer, and whether the job had
        ended: it arrives as it is sent, and an end is known when the answer would be there."""
        self._note_sent(job)
        verdict = self._judged()
        ended = verdict.allowed and job.ends <= self.now
        if ended:
            self.schedule(self._net.uniform(*TRIP_SECONDS), lambda: self._end(job))
        return verdict, ended

    def _note_sent(self, job: SimulatedJob | None) -> None:
        if job is not None:
            job.asked, self.tally.looks = self.now, self.tally.looks + 1
        self.tally.sent.append(self.now)

    def _judged(self) -> LimiterAnswer:
        verdict = self._limiter.admit(self.now)
        self.tally.refusals += not verdict.allowed
        return verdict

    def _arrive(self, job: SimulatedJob | None, then: Callable[[], None]) -> None:
        verdict = self._judged()
        ended = job is not None and verdict.allowed and job.ends <= self.now
        retry_after = 0 if verdict.allowed else max(1.0, verdict.retry_after)

        def answer() -> None:
            self._watcher.on_headers(self.now, verdict.left, retry_after)
            if job is not None and ended:
                self._end(job)
            then()

        self.schedule(self._net.uniform(*TRIP_SECONDS), answer)

    def _end(self, job: SimulatedJob) -> None:
        if job not in self.jobs:
            return
        self.jobs.remove(job)
        if self.now > self._warm_up:
            self.tally.lags.append(self.now - job.ends)
        self._watcher.on_finished(job, self.now)
        self.schedule(self._renders.expovariate(1 / BETWEEN_JOBS), self._start)
