"""One token's world: its jobs start, render and end, three people click, and somebody watches."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Protocol

from tests.bench.watching.service import SORTS, Limiter, Verdict, duration, pick

PEOPLE, BETWEEN_ACTS = 3, 90.0  # each does something every so many seconds, of 1 to 3 requests
BETWEEN_JOBS = 30.0  # seconds until the next job begins in the place of one that ended
READING = 0.3  # seconds between two requests of one act
WAY = (0.02, 0.12)  # seconds that a request, and again its answer, is under way; from, to
WARM_UP = 300.0  # seconds that are not counted


@dataclass(eq=False, slots=True)
class Job:
    sort: int
    started: float
    ends: float
    seen: float  # when it was last seen running
    due: float
    asked: float


@dataclass
class Tally:
    lags: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refusals: int = 0  # 429s of the watcher's and of the people's requests
    looks: int = 0
    sent: list[float] = field(default_factory=list)


class Watcher(Protocol):
    def begin(self, world: World) -> None:
        """Set up whatever looks at the jobs."""

    def grant(self, now: float) -> float:
        """A person's request: 0 when it may be sent, else seconds until it is worth asking."""

    def heard(self, now: float, left: int, retry_after: float) -> None:
        """What the headers of an answer say; `retry_after` is 0 but for a 429."""

    def finished(self, job: Job, now: float) -> None:
        """A look saw the job's end."""


class World:
    def __init__(
        self, *, jobs: int, kind: str, seed: int, watcher: Watcher, warm_up: float = WARM_UP
    ) -> None:
        self.now, self.jobs, self.tally, self._warm_up = 0.0, set[Job](), Tally(), warm_up
        self._limiter, self._watcher = Limiter(kind), watcher
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = count()
        # Each its own, so that another way of watching meets the same jobs and the same clicks.
        self._renders, self._clicks, self._net = (Random(f"{seed} {name}") for name in "rcn")  # noqa: S311
        for _ in range(jobs):
            self.after(self._renders.expovariate(1 / BETWEEN_JOBS), self._start)
        for _ in range(PEOPLE):
            self.after(self._clicks.expovariate(1 / BETWEEN_ACTS), self._act)
        watcher.begin(self)

    def after(self, seconds: float, deed: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now + seconds, next(self._number), deed))

    def run(self, seconds: float) -> Tally:
        while self._events[0][0] < seconds:
            self.now, _, deed = heapq.heappop(self._events)
            deed()
        return self.tally

    def _start(self) -> None:
        sort = pick(self._renders)
        ends = self.now + duration(self._renders, SORTS[sort])
        self.jobs.add(Job(sort, self.now, ends, self.now, self.now + 5, self.now))

    def _act(self) -> None:
        self._click(self._clicks.randint(1, 3), self.now)

    def _click(self, left: int, since: float) -> None:
        """A person's next request, sent as soon as it is granted."""
        if left == 0:
            self.after(self._clicks.expovariate(1 / BETWEEN_ACTS), self._act)
        elif wait := self._watcher.grant(self.now):
            self.after(min(wait, 0.5), lambda: self._click(left, since))
        else:
            self._note_wait(self.now - since)
            self.ask(None, lambda: self.after(READING, lambda: self._click(left - 1, self.now)))

    def _note_wait(self, wait: float) -> None:
        if self.now > self._warm_up:
            self.tally.waits.append(wait)

    def ask(self, job: Job | None, then: Callable[[], None] = lambda: None) -> None:
        """One request: what it asks is answered as it is when it arrives."""
        self._note_sent(job)
        self.after(self._net.uniform(*WAY), lambda: self._arrive(job, then))

    def ask_now(self, job: Job) -> tuple[Verdict, bool]:
        """A look of a watcher that stands still until it has its answer, and whether the job had
        ended: it arrives as it is sent, and an end is known when the answer would be there."""
        self._note_sent(job)
        verdict = self._judged()
        ended = verdict.allowed and job.ends <= self.now
        if ended:
            self.after(self._net.uniform(*WAY), lambda: self._end(job))
        return verdict, ended

    def _note_sent(self, job: Job | None) -> None:
        if job is not None:
            job.asked, self.tally.looks = self.now, self.tally.looks + 1
        self.tally.sent.append(self.now)

    def _judged(self) -> Verdict:
        verdict = self._limiter.take(self.now)
        self.tally.refusals += not verdict.allowed
        return verdict

    def _arrive(self, job: Job | None, then: Callable[[], None]) -> None:
        verdict = self._judged()
        ended = job is not None and verdict.allowed and job.ends <= self.now
        retry_after = 0 if verdict.allowed else max(1.0, verdict.retry_after)

        def answer() -> None:
            self._watcher.heard(self.now, verdict.left, retry_after)
            if job is not None and ended:
                self._end(job)
            then()

        self.after(self._net.uniform(*WAY), answer)

    def _end(self, job: Job) -> None:
        if job not in self.jobs:
            return
        self.jobs.remove(job)
        if self.now > self._warm_up:
            self.tally.lags.append(self.now - job.ends)
        self._watcher.finished(job, self.now)
        self.after(self._renders.expovariate(1 / BETWEEN_JOBS), self._start)
