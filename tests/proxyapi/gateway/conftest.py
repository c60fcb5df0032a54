"""The gateway in this process, over a scripted service, with a worker that takes what is
enqueued."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.db import connection, connections

from dashboard.models import Membership
from proxyapi import tasks
from proxyapi.charges import dispatch_charge
from proxyapi.gateway import keys, threads
from proxyapi.gateway.app import create_app
from proxyapi.models import ApiKey, KeyScope, Token
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

ALL_SCOPES = tuple(KeyScope)


class Script:
    """A script of a member: what it sends has its key."""

    def __init__(self, app: Any, loop: asyncio.Runner, key: ApiKey, value: str) -> None:
        self.app, self.loop, self.key, self.value = app, loop, key, value
        self.peer = "127.0.0.1"

    def call(self, method: str, path: str, **wanted: Any) -> httpx.Response:
        return self.loop.run(self.send(method, path, **wanted))

    def at_once(self, count: int, method: str, path: str, **wanted: Any) -> list[httpx.Response]:
        """The answers to so many equal requests at the same time."""

        async def send_all() -> list[httpx.Response]:
            return list(
                await asyncio.gather(*(self.send(method, path, **wanted) for _ in range(count)))
            )

        return self.loop.run(send_all())

    async def send(self, method: str, path: str, **wanted: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.value}", **wanted.pop("headers", {})}
        transport = httpx.ASGITransport(self.app, client=(self.peer, 4711))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://reelroom", trust_env=False
        ) as client:
            return await client.request(method, f"/api/v2{path}", headers=headers, **wanted)


class Worker:
    """Takes charges as Celery's worker does, in threads; `is_busy` leaves them in the queue."""

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(4)
        self.is_busy = False
        self.taken: list[Future[None]] = []

    def enqueue(self, task: Any, id: str) -> None:
        if task is tasks.dispatch_charge_task and not self.is_busy:
            self.taken.append(self.pool.submit(self.dispatch, UUID(id)))

    def dispatch(self, charge_id: UUID) -> None:
        try:
            dispatch_charge(charge_id)
        finally:
            connection.close()

    def finish(self) -> None:
        self.pool.shutdown()
        for future in self.taken:
            future.result()


@pytest.fixture
def upstream(upstream: ScriptedUpstream) -> ScriptedUpstream:
    video = {"id": 7, "script": "Ice moves.", "video": {"status": "draft"}}
    upstream.respond("GET", "/faceless/7", make_response(video))
    upstream.respond("GET", "/faceless/7/estimate", make_response({"cost": 10}))
    return upstream


@pytest.fixture
def rendered(upstream: ScriptedUpstream) -> httpx.Response:
    """The service's answer to a render, at 10 credits; a script costs 4."""
    script = charged_response({"id": 7, "script": "Tea."}, 4)
    upstream.respond("PUT", "/faceless/7/scripts", script)
    upstream.respond("POST", "/faceless/7/render", answer := charged_response({"id": 7}, 10))
    return answer


@pytest.fixture
def worker(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    taken = Worker()
    monkeypatch.setattr(tasks, "_enqueue", taken.enqueue)
    # Threads that outlive their test write into the next one; none keeps a connection, either.
    monkeypatch.setattr(threads, "release_connections", connections.close_all)
    with ThreadPoolExecutor(threads.MAX_THREADS) as pool:
        monkeypatch.setattr(threads, "_threads", pool)
        yield taken
        taken.finish()


@pytest.fixture
def token(priya: Membership) -> Token:
    """Priya's, with an account of 1,000 credits."""
    account = AccountFactory(tenant=priya.team.tenant, balance=Decimal(1000))
    token: Token = TokenFactory(account=account, owner=priya.user)
    return token


@pytest.fixture
def make_script(
    worker: Worker, upstream: ScriptedUpstream, priya: Membership, token: Token
) -> Iterator[Callable[..., Script]]:
    """Scripts of Priya's, each with a key of its own; arguments are the key's fields."""
    app = create_app()
    with asyncio.Runner() as loop:

        def make(**fields: Any) -> Script:
            owner, scopes = fields.pop("owner", priya), fields.pop("scopes", ALL_SCOPES)
            made = keys.create_key(owner.team.tenant, owner.user_id, "nightly", scopes, **fields)
            return Script(app, loop, made.key, made.value)

        yield make


@pytest.fixture
def script(make_script: Callable[..., Script]) -> Script:
    return make_script()
