"""A room in simulated time: real rows, the real tick, real looks, the real bucket on a real Valkey.

Only the clock and the service are ours: `timezone.now`, the bucket's time and the expiry of what
Redis keeps for some seconds follow a clock that jumps a second a tick; the service counts requests
with a limiter of its own and can be away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest
import redis
from django.utils import timezone

from proxyapi import calls, rate_limiter, redis_client
from proxyapi.models import Job, JobKind, JobState, Token
from proxyapi.operations import OPERATIONS
from proxyapi.polling import circuit_breaker, due_work
from proxyapi.polling.poller import poll_job
from proxyapi.upstream.client import UpstreamClient
from tests.bench.polling.simulated_service import SimulatedLimiter
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import BASE

KINDS = ("fixed", "sliding")


@dataclass
class PollingSimulation:
    patch: pytest.MonkeyPatch
    tokens: list[Token] = field(default_factory=list)
    now: datetime = field(default_factory=timezone.now)
    down: bool = False
    asked: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[str, float] = field(default_factory=dict)  # remote id → when last
    taken: dict[UUID, float] = field(default_factory=dict)  # by a tick, when last
    refusals: int = 0
    _limiters: dict[str, SimulatedLimiter] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return self.now.timestamp()

    def add_tokens(self, *, tokens: int, jobs: int) -> None:
        """So many tokens of one account, and so many jobs on each, all of them rendering."""
        account = AccountFactory.create()
        self.tokens = [TokenFactory.create(account=account) for _ in range(tokens)]
        for token in self.tokens:
            self.add_jobs(token, jobs)
        answer_requests_with(self.patch, self._answer)
        use_clock(self.patch, lambda: self.now)

    def add_jobs(self, token: Token, jobs: int) -> None:
        first = Job.objects.count()
        owner = {"tenant": token.tenant, "account": token.account, "token": token}
        Job.objects.bulk_create(
            Job(
                **owner,
                member=token.owner,
                kind=JobKind.FACELESS,
                title="Glacier",
                state=JobState.RUNNING,
                remote_id=str(first + number),
                raw_status="rendering",
                started_at=self.now - timedelta(seconds=3 * number),
                polled_at=self.now,
                next_poll_at=self.now + timedelta(seconds=5),
            )
            for number in range(jobs)
        )

    def run(self, seconds: int) -> None:
        """Ticks, a second apart; whatever they ring for is done within the second."""
        for second in range(seconds):
            self.now += timedelta(seconds=1)
            if second % circuit_breaker.PROBE_INTERVAL_S == 0:
                self._expire()
            for lease in due_work.lease_due_jobs():
                self.taken[lease.job_id] = self.seconds
                poll_job(lease.job_id, lease.until)

    def _expire(self) -> None:
        environment = self.tokens[0].account.environment
        with suppress(redis.RedisError):
            redis_client.connect_redis().delete(f"polling:failures:{environment}:probe")

    def _answer(self, request: httpx.Request) -> httpx.Response:
        name = request.headers["authorization"]
        self.asked[name].append(self.seconds)
        if self.down:
            raise ConnectionRefused("the wire broke")
        kind = KINDS[len(self._limiters) % 2]
        limiter = self._limiters.setdefault(name, SimulatedLimiter(kind))
        verdict = limiter.admit(self.seconds)
        headers = {"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": str(verdict.left)}
        if not verdict.allowed:
            self.refusals += 1
            return httpx.Response(429, headers=headers | {"Retry-After": "5"}, json={})
        remote = request.url.path.rsplit("/", 1)[-1]
        self.answered[remote] = self.seconds
        body = {"data": {"id": int(remote), "video": {"status": "rendering"}}}
        return httpx.Response(200, headers=headers, json=body)

    def unpolled_since(self, moment: float) -> int:
        """Jobs without an answer since then."""
        remotes = Job.objects.values_list("remote_id", flat=True)
        return sum(self.answered.get(str(remote), 0.0) < moment for remote in remotes)

    def count_untaken(self, seconds: int) -> int:
        """Runs for so long: jobs that no tick of it took, so that nobody looked at them."""
        since = self.seconds
        self.run(seconds)
        jobs = Job.objects.values_list("pk", flat=True)
        return sum(self.taken.get(job, 0.0) <= since for job in jobs)

    def seconds_until_all_polled(self, most: int) -> int:
        """Runs until every job was answered since now; `most` when that was not enough."""
        since = self.seconds
        for second in range(most):
            if not self.unpolled_since(since):
                return second
            self.run(1)
        return most

    def max_requests_in_minute(self) -> int:
        """The most requests that any token sent in any sixty seconds."""
        return max(
            sum(start <= at < start + 60 for at in times)
            for times in self.asked.values()
            for start in times
        )

    def wrongly_ended_jobs(self) -> int:
        """Jobs that are said to have ended; none has."""
        return Job.objects.exclude(state=JobState.RUNNING).count()


def use_clock(patch: pytest.MonkeyPatch, clock: Callable[[], datetime]) -> None:
    """Rows and buckets have that clock's time."""
    run = rate_limiter._run_script

    def timed(*args: Any, **more: Any) -> list[int]:
        return run(*args, **{**more, "at": round(clock().timestamp() * 1000)})

    def rooms(store: Any, names: list[str], lane: rate_limiter.Priority) -> list[int]:
        return [rate_limiter.available(store, name, lane) for name in names]

    patch.setattr(timezone, "now", clock)
    patch.setattr(rate_limiter, "_run_script", timed)
    patch.setattr(rate_limiter, "available_many", rooms)


def answer_requests_with(
    patch: pytest.MonkeyPatch, answer: Callable[[httpx.Request], httpx.Response]
) -> None:
    """What is sent upstream is answered by this function."""
    client = UpstreamClient(BASE, OPERATIONS, transport=httpx.MockTransport(answer))
    patch.setattr(calls, "upstream_client", lambda: client)


class ConnectionRefused(httpx.ConnectError):
    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.__cause__ = ConnectionRefusedError()


@contextmanager
def without_redis(patch: pytest.MonkeyPatch, url: str) -> Iterator[None]:
    """As long as it lasts nobody answers where Redis was."""
    with patch.context() as away:
        away.setattr("django.conf.settings.REDIS_URL", url)
        yield
