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
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from celery import Task
from django.apps import apps
from django.db import transaction
from django.utils import timezone

from proxyapi import calls, failpoints, tasks, tokens
from proxyapi.models import Token
from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.clock import Clock
from proxyapi.sandbox.faults import ConnectionLost
from proxyapi.upstream.client import Client
from proxyapi.upstream.secret import Secret
from tests.factories import UserFactory, VaultFactory
from tests.proxyapi.money.stage import PAID, SETTINGS, Stage
from tests.sandbox.books import Nothing
from tests.stores import empty_stores

ADDRESS = "http://127.0.0.1:9"
A_REQUEST = 0.05  # seconds of the sandbox's clock


class Killed(BaseException):
    """The process died here."""


class Refused(httpx.ConnectError):
    """Nobody listens."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.__cause__ = ConnectionRefusedError()


class Indoors(httpx.BaseTransport):
    """`point`: the failpoint to die at next, or "wire": before the first byte is out."""

    def __init__(self, folder: Path, loop: asyncio.Runner) -> None:
        clock = Clock("frozen", now=time.time())
        app = create_app(media_dir=folder, maker=Nothing(), clock=clock, seed=1)
        self.world, self.clock, self._loop = app.state.world, clock, loop
        self._studio = app.state.studio
        self._inner = httpx.ASGITransport(app=app, client=("127.0.0.1", 4711))
        self.point, self.away = "", False
        self.a_request, self.bells = A_REQUEST, list[UUID]()
        self.on_point: Callable[[str], None] | None = None

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), tz=UTC)

    @contextmanager
    def still(self) -> Iterator[None]:
        """What the time until now has brought is there, and nothing comes meanwhile."""
        self._studio.tick()
        self.a_request = 0.0
        try:
            yield
        finally:
            self.a_request = A_REQUEST

    def reach(self, name: str) -> None:
        if self.on_point is not None:
            self.on_point(name)
        if name == self.point:
            self.point = ""
            raise Killed

    def ring(self, task: Task[[str], None], id: str) -> None:
        """In the place of `tasks._ring`: the doorbells of charges are kept."""
        if task is tasks.dispatch_charge_task:
            self.reach("enqueue")
            self.bells.append(UUID(id))

    @contextmanager
    def dying(self, point: str) -> Iterator[None]:
        """What is done in here may die at that point, and is over then."""
        self.point = point
        try:
            with suppress(Killed):
                yield
        finally:
            self.point = ""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if "/_sandbox/" not in request.url.path:
            self.clock.advance(self.a_request)
            if self.away:
                raise Refused("the service is away")
            if request.method != "GET":
                self.reach("wire")
        parts, died = [], False
        try:
            for part in request.stream:  # type: ignore[union-attr]
                parts.append(part)
        except Killed:  # the last byte is out: the service gets all of it
            died = True
        answer = self._loop.run(self._ask(request, b"".join(parts)))
        if died:
            raise Killed
        if answer is None:
            raise httpx.ReadError("the line broke")
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
def indoors(folder: Path, patch: pytest.MonkeyPatch, settings: Any) -> Iterator[Indoors]:
    """The portal talks to this sandbox and lives by its clock."""
    settings.VIDEO_API_BASE_URL = f"{ADDRESS}/v2"
    with asyncio.Runner() as loop:
        made = Indoors(folder, loop)
        real = timezone.now
        for model in apps.get_app_config("proxyapi").get_models():
            for field in model._meta.concrete_fields:
                if field.default is real:
                    patch.setattr(field, "_get_default", made.now, raising=False)
        patch.setattr(timezone, "now", made.now)
        patch.setattr(failpoints, "hit_failpoint", made.reach)
        with Client(f"{ADDRESS}/v2", transport=made) as client:
            patch.setattr(calls, "upstream_client", lambda: client)
            yield made


@contextmanager
def staged(house: Indoors, settings: dict[str, Any], **account: Any) -> Iterator[Stage]:
    """An empty world, empty tables and an empty Redis; one account that pays, and its token here.

    Each world's first account is number 1: without the last, it had the previews of those before.
    """
    emptied()
    with (
        httpx.Client(transport=house, base_url=f"{ADDRESS}/_sandbox/") as control,
        httpx.Client(transport=house, base_url=f"{ADDRESS}/v2") as direct,
    ):
        control.post("reset", json={})
        assert control.put("settings", json={**SETTINGS, "films": "made", **settings}).is_success
        made = control.post("accounts", json={**PAID, **account}).json()
        direct.headers["Authorization"] = f"Bearer {made['token']}"
        yield Stage(control, direct, made["account_id"], token_of(made["token"]))


def token_of(text: str) -> Token:
    token = tokens.store_token(VaultFactory(), UserFactory().pk, Secret(text))
    tokens.refresh_account_profile(token.account)
    token.account.refresh_from_db()
    return token


def emptied() -> None:
    with transaction.atomic():
        for model in apps.get_app_config("proxyapi").get_models():
            rows = model._base_manager.all()
            rows._raw_delete(using=rows.db)
    empty_stores()
