"""The simulated world polled by the portal itself: real rows, the real tick, real polls, and the
durations that they record.

Only the clock and the wire are simulated. Django has to be set up before this is imported.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random
from uuid import UUID

import httpx
import pytest
import redis

from proxyapi.models import Job as Row
from proxyapi.models import RenderDurations
from proxyapi.models.duration_class import DurationClass
from proxyapi.polling import due_work
from proxyapi.polling.duration_model import MIN_POLL_INTERVAL_S
from proxyapi.polling.poller import poll_job
from tests.bench.polling.pollers import EPOCH, MeteredPoller
from tests.bench.polling.simulated_service import LIMIT
from tests.bench.polling.simulation import SimulatedJob, SimulatedWorld
from tests.factories import JobFactory, TokenFactory
from tests.proxyapi.polling.polling_simulation import answer_requests_with, use_clock

LENGTHS = (15, 30, 60, 120)  # seconds of film that the four sorts of render make
FILM = "https://films.example/glacier.mp4"


class DatabasePoller(MeteredPoller):
    """It starts without known durations and records those of its own polls."""

    def __init__(self, patch: pytest.MonkeyPatch, store: redis.Redis, seed: int) -> None:
        Row.objects.all().delete()
        RenderDurations.objects.all().delete()
        self._token = TokenFactory.create()
        super().__init__(store, self._token.bucket)
        self._patch, self._chance = patch, Random(f"{seed} rows")  # noqa: S311
        self._jobs: dict[UUID, SimulatedJob] = {}  # by the key of their row
        self._remote: list[SimulatedJob] = []  # by the number that the service gave them
        self._stored = set[SimulatedJob]()

    def begin(self, world: SimulatedWorld) -> None:
        super().begin(world)
        self._patch.undo()  # the clock of the world before
        use_clock(self._patch, lambda: self._time(world.now))
        answer_requests_with(self._patch, self._answer)
        self._tick()

    def on_finished(self, job: SimulatedJob, now: float) -> None:
        self._stored.discard(job)

    def render_seconds(self, row: UUID) -> float:
        """Seconds that a render really took."""
        return self._jobs[row].ends - self._jobs[row].started

    def _time(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(EPOCH / 1000, UTC) + timedelta(seconds=seconds)

    def _tick(self) -> None:
        for job in sorted(self._world.jobs - self._stored, key=lambda job: job.started):
            self._store_row(job)
        for lease in due_work.lease_due_jobs():
            queued = self._chance.uniform(0.005, 0.05)
            in_time = self._jobs[lease.job_id].asked + MIN_POLL_INTERVAL_S - self._world.now
            self._world.schedule(max(queued, in_time), partial(self._poll, lease))
        self._world.schedule(1.0, self._tick)

    def _poll(self, lease: due_work.JobLease) -> None:
        poll_job(lease.job_id, lease.until)

    def _store_row(self, job: SimulatedJob) -> None:
        """As it would be when the service has taken the render."""
        remote, account = str(len(self._remote)), self._token.account
        row = JobFactory.build(account=account, token=self._token, remote_id=remote, draft=None)
        delay = timedelta(seconds=MIN_POLL_INTERVAL_S)
        of_sort = DurationClass("ai-visuals", LENGTHS[job.sort])
        row.start(self._time(job.started), delay, of_sort)
        self._jobs[row.pk] = job
        self._remote.append(job)
        self._stored.add(job)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        remote = int(request.url.path.rsplit("/", 1)[-1])
        verdict, ended = self._world.poll_now(self._remote[remote])
        left = str(verdict.left)
        headers = {"X-RateLimit-Limit": str(LIMIT), "X-RateLimit-Remaining": left}
        if not verdict.allowed:
            wait = {"Retry-After": str(math.ceil(verdict.retry_after))}
            return httpx.Response(429, headers=headers | wait, json={})
        video = {"status": "completed", "url": FILM} if ended else {"status": "rendering"}
        body = {"data": {"id": remote, "video": video}}
        return httpx.Response(200, headers=headers, json=body)
