"""The sandbox in this process, on a clock that the portal follows, and a process that can die.

No socket and no waiting: a request takes a twentieth of a second of the sandbox's own time, hours
pass at a word. Death is an exception that nobody catches at a named failpoint; what follows it in a
real process, other than the rollback, are `finally` blocks (the lock of a draft is given back).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import httpcore
import httpx
import pytest
from celery import Task
from django.apps import apps
from django.db import transaction
from django.utils import timezone

from proxyapi import calls, failpoints, tasks, tokens
from proxyapi.models import Token
from proxyapi.operations import OPERATIONS
from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.clock import SandboxClock
from proxyapi.sandbox.faults import ConnectionLost
from proxyapi.upstream import deadline, transport
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from tests.external_state import empty_external_state
from tests.factories import TenantFactory, UserFactory
from tests.proxyapi.money.sandbox_account import ACCOUNT_DATA, SETTINGS, SandboxAccount
from tests.sandbox.ledger_state_machine import NullMaker

ADDRESS = "http://127.0.0.1:9"
REQUEST_S = 0.05  # seconds of the sandbox's clock
# An answer with this header has another one that never ends, of which a byte arrives each second.
ENDLESS_HEADER = "X-Endless"
MAX_READS = 2_000  # of such a header


class ProcessKilled(BaseException):
    """The process died here."""


class NobodyListens(httpx.ConnectError):
    """Nobody listens."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.__cause__ = ConnectionRefusedError()


class EndlessHeader(httpcore.NetworkStream):
    def __init__(self, clock: SandboxClock) -> None:
        self._clock, self._reads = clock, 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._reads += 1
        assert self._reads < MAX_READS, "no deadline ends it"
        self._clock.advance(1)
        return b"a"


class InProcessSandbox(httpx.BaseTransport):
    """`point`: the failpoint to die at next, or "wire": before the first byte of a write to a path
    like `wire_path` is out."""

    def __init__(self, folder: Path, loop: asyncio.Runner) -> None:
        clock = SandboxClock("frozen", now=time.time())
        app = create_app(media_dir=folder, maker=NullMaker(), clock=clock, seed=1)
        self.world, self.clock, self._loop = app.state.world, clock, loop
        self._studio = app.state.studio
        self._inner = httpx.ASGITransport(app=app, client=("127.0.0.1", 4711))
        self.point, self.wire_path, self.away = "", "*", False
        self.a_request, self.bells = REQUEST_S, list[UUID]()
        self.on_point: Callable[[str], None] | None = None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), tz=UTC)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """What the time until now has brought is there, and nothing comes meanwhile."""
        self._studio.tick()
        self.a_request = 0.0
        try:
            yield
        finally:
            self.a_request = REQUEST_S

    def reach_failpoint(self, name: str) -> None:
        if self.on_point is not None:
            self.on_point(name)
        if name == self.point:
            self.point = ""
            raise ProcessKilled

    def record_enqueued(self, task: Task[[str], None], id: str) -> None:
        """In the place of `tasks._ring`: the doorbells of charges are kept."""
        if task is tasks.dispatch_charge_task:
            self.reach_failpoint("enqueue")
            self.bells.append(UUID(id))

    @contextmanager
    def dying_at(self, point: str, wire_path: str = "*") -> Iterator[None]:
        """What is done in here may die at that point, and is over then. Writes that prepare a
        charge go to other paths than its own."""
        self.point, self.wire_path = point, wire_path
        try:
            with suppress(ProcessKilled):
                yield
        finally:
            self.point, self.wire_path = "", "*"

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/_sandbox/" not in request.url.path:
            self.clock.advance(self.a_request)
            if self.away:
                raise NobodyListens("the service is away")
            if request.method != "GET" and fnmatch(request.url.path, self.wire_path):
                self.reach_failpoint("wire")
        parts, died = [], False
        try:
            for part in request.stream:  # type: ignore[union-attr]
                parts.append(part)
        except ProcessKilled:  # the last byte is out: the service gets all of it
            died = True
        answer = self._loop.run(self._ask(request, b"".join(parts)))
        if died:
            raise ProcessKilled
        if answer is None:
            raise httpx.ReadError("the line broke")
        if ENDLESS_HEADER in answer.headers:
            stream = deadline.DeadlineStream(EndlessHeader(self.clock))
            while True:
                stream.read(1, request.extensions["timeout"]["read"])
        return answer

    async def _ask(self, request: httpx.Request, body: bytes) -> httpx.Response | None:
        sent = httpx.Request(request.method, request.url, headers=request.headers, content=body)
        try:
            answer = await self._inner.handle_async_request(sent)
            whole = await answer.aread()
        except ConnectionLost:
            return None
        return httpx.Response(answer.status_code, headers=answer.headers, content=whole)


@contextmanager
def in_process_sandbox(
    folder: Path, patch: pytest.MonkeyPatch, settings: Any
) -> Iterator[InProcessSandbox]:
    """The portal talks to this sandbox and lives by its clock."""
    settings.VIDEO_API_BASE_URL = f"{ADDRESS}/v2"
    with asyncio.Runner() as loop:
        made = InProcessSandbox(folder, loop)
        real = timezone.now
        for model in apps.get_app_config("proxyapi").get_models():
            for field in model._meta.concrete_fields:
                if field.default is real:
                    patch.setattr(field, "_get_default", made.now, raising=False)
        patch.setattr(timezone, "now", made.now)
        for module in (deadline, transport):
            patch.setattr(module, "time", SimpleNamespace(monotonic=made.clock.now))
        patch.setattr(failpoints, "hit_failpoint", made.reach_failpoint)
        with UpstreamClient(f"{ADDRESS}/v2", OPERATIONS, transport=made) as client:
            patch.setattr(calls, "upstream_client", lambda: client)
            yield made


@contextmanager
def sandbox_with_account(
    sandbox: InProcessSandbox, settings: dict[str, Any], **account: Any
) -> Iterator[SandboxAccount]:
    """An empty world, empty tables and an empty Redis; one account that pays, and its token here.

    Each world's first account is number 1: without the last, it had the previews of those before.
    """
    empty_tables()
    with (
        httpx.Client(transport=sandbox, base_url=f"{ADDRESS}/_sandbox/") as control,
        httpx.Client(transport=sandbox, base_url=f"{ADDRESS}/v2") as direct,
    ):
        control.post("reset", json={})
        assert control.put("settings", json={**SETTINGS, "films": "made", **settings}).is_success
        made = control.post("accounts", json={**ACCOUNT_DATA, **account}).json()
        direct.headers["Authorization"] = f"Bearer {made['token']}"
        yield SandboxAccount(control, direct, made["account_id"], token_from_header(made["token"]))


def token_from_header(text: str) -> Token:
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(text))
    tokens.refresh_account_profile(token.account)
    token.account.refresh_from_db()
    return token


def empty_tables() -> None:
    with transaction.atomic():
        for model in apps.get_app_config("proxyapi").get_models():
            rows = model._base_manager.all()
            rows._raw_delete(using=rows.db)
    empty_external_state()
