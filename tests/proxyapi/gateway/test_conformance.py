"""Through the gateway every endpoint of the specification answers what the service answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import httpx
import pytest

from dashboard.models import Membership
from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.gateway import keys
from proxyapi.gateway.app import create_app
from proxyapi.models import Charge, KeyScope, Token, TokenState
from proxyapi.operations import OPERATIONS
from proxyapi.sandbox.clock import FROZEN_START
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from tests.contract import spec
from tests.contract.recipes import RECIPES, PreparedRequest
from tests.contract.spec import Endpoint
from tests.external_state import empty_external_state
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.sandbox.conftest import SandboxClient

ROWS = sorted(spec.endpoints())


class SandboxTransport(httpx.BaseTransport):
    """The portal's requests end in the sandbox of the test, one at a time."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self.inner = httpx.ASGITransport(sandbox.app, client=sandbox.peer)
        self.lock = Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        content = b"".join(request.stream)  # type: ignore[arg-type]
        with self.lock:
            return asyncio.run(self.ask(request, content))

    async def ask(self, request: httpx.Request, content: bytes) -> httpx.Response:
        asked = httpx.Request(request.method, request.url, headers=request.headers, content=content)
        answer = await self.inner.handle_async_request(asked)
        return httpx.Response(
            answer.status_code, headers=answer.headers, content=await answer.aread()
        )


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[SandboxClient]:
    with asyncio.Runner() as runner:
        yield SandboxClient(tmp_path, runner, db=None)


def prepare(sandbox: SandboxClient, row: Endpoint) -> PreparedRequest:
    """The request of a row, in a new world that is the same each time."""
    sandbox.world.clock.set_mode("frozen", now=FROZEN_START)
    sandbox.reset("paid")
    asked = RECIPES[row].prepare(sandbox, row)
    sandbox.world.clock.advance(61)
    return asked


def script_of(sandbox: SandboxClient, owner: Membership, loop: asyncio.Runner) -> Script:
    """A script on the token of the sandbox's account, in an account of its own here."""
    Token.objects.update(state=TokenState.REMOVED)  # of the row before
    profile = sandbox.get("/v2/me").json()["data"]
    account = AccountFactory(tenant=owner.team.tenant, balance=profile["credits"]["remaining"])
    token = TokenFactory(account=account, owner=owner.user)
    token_vault.encrypt_token_into(token, Secret(sandbox.token))
    token.save()
    made = keys.create_key(
        owner.team.tenant, owner.user_id, "conformance", tuple(KeyScope), token=token
    )
    return Script(create_app(), loop, made.key, made.value)


def test_every_endpoint_answers_as_the_service_does(
    sandbox: SandboxClient, worker: Worker, mira: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = UpstreamClient("http://sandbox/v2", OPERATIONS, transport=SandboxTransport(sandbox))
    monkeypatch.setattr(calls, "upstream_client", lambda: client)
    monkeypatch.setattr("proxyapi.gateway.app.upstream_client", lambda: client)
    misses = []
    with asyncio.Runner() as loop:
        for row in ROWS:
            asked = prepare(sandbox, row)
            direct = sandbox.call(asked.method, asked.path, **asked.sent)
            asked = prepare(sandbox, row)
            empty_external_state()
            script = script_of(sandbox, mira, loop)
            before = sandbox.money()
            answer = script.call(asked.method, asked.path.removeprefix("/v2"), **asked.sent)
            if told := differences(direct, answer):
                misses.append(f"{row}: {told}")
            misses += [f"{row}: {told}" for told in money_misses(sandbox, before, answer)]
    assert misses == []


def differences(direct: httpx.Response, answer: httpx.Response) -> str:
    same = (direct.status_code, direct.json()) == (answer.status_code, answer.json())
    is_json = answer.headers["content-type"] == direct.headers["content-type"]
    return "" if same and is_json else f"{direct.status_code} {direct.text} ≠ {answer.text}"


def money_misses(
    sandbox: SandboxClient, before: dict[str, Any], answer: httpx.Response
) -> Iterator[str]:
    """What the account paid is what the charge of the answer has booked."""
    spent = before["balance"] - sandbox.money()["balance"]
    charge = Charge.objects.filter(pk=answer.headers.get("reelroom-charge-id")).first()
    booked = charge.cost if charge else 0
    if spent != booked:
        yield f"{spent} credits were paid, {booked} are booked"
