"""Running jobs of Luca's, as many as a test wants."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proxyapi import rate_limiter, redis_client
from proxyapi.models import Job, JobState, Token
from tests.factories import JobFactory, TokenFactory

Running = Callable[..., Job]


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture
def token(db: None) -> Token:
    return TokenFactory.create()


@pytest.fixture
def make_running_job(token: Token) -> Running:
    """Makes a job that was last seen `seen` seconds ago, `age` seconds after its start, and whose
    next look is due."""

    def make(age: float = 60, seen: float = 6, *, of: Token | None = None, **more: Any) -> Job:
        owner = of or token
        rows = {"tenant": owner.tenant, "account": owner.account, "token": owner}
        times = {"started_at": ago(age), "polled_at": ago(seen), "next_poll_at": ago(0)}
        number = str(Job.objects.count() + 1)
        state = {"remote_id": number, "state": JobState.RUNNING, "raw_status": "rendering"}
        return JobFactory.create(**(rows | times | state | more))

    return make


@pytest.fixture
def informed_rate_limiter(token: Token) -> Callable[..., None]:
    """A bucket that has heard from the service, so that it is not blind."""

    def see(*tokens: Token) -> None:
        for one in tokens or (token,):
            rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), one.bucket, 30, 30)

    return see
