"""A script on the real sandbox, in this process, in a world that is the same each time."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from dashboard.models import Membership
from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.gateway import keys
from proxyapi.gateway.app import create_app
from proxyapi.models import KeyScope, Token, TokenState
from proxyapi.operations import OPERATIONS
from proxyapi.sandbox.clock import FROZEN_START
from proxyapi.sandbox.faults import ConnectionLost
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from tests.contract.recipes import RECIPES, PreparedRequest
from tests.contract.spec import Endpoint
from tests.external_state import empty_external_state
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script
from tests.sandbox.conftest import SandboxClient


class SandboxTransport(httpx.BaseTransport):
    """The portal's requests end in the sandbox of the test, one at a time."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self.inner = httpx.ASGITransport(sandbox.app, client=sandbox.peer)
        self.lock = sandbox.lock

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        content = b"".join(request.stream)  # type: ignore[arg-type]
        try:
            with self.lock:
                return asyncio.run(self.ask(request, content))
        except ConnectionLost:
            raise httpx.ReadError("the connection ended") from None

    async def ask(self, request: httpx.Request, content: bytes) -> httpx.Response:
        asked = httpx.Request(request.method, request.url, headers=request.headers, content=content)
        answer = await self.inner.handle_async_request(asked)
        body = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=body)


def use_sandbox(sandbox: SandboxClient, monkeypatch: pytest.MonkeyPatch) -> None:
    client = UpstreamClient("http://sandbox/v2", OPERATIONS, transport=SandboxTransport(sandbox))
    monkeypatch.setattr(calls, "upstream_client", lambda: client)
    monkeypatch.setattr("proxyapi.gateway.app.upstream_client", lambda: client)


def prepare(sandbox: SandboxClient, row: Endpoint) -> PreparedRequest:
    """The request of a row, in a new world."""
    sandbox.world.clock.set_mode("frozen", now=FROZEN_START)
    sandbox.reset("paid")
    asked = RECIPES[row].prepare(sandbox, row)
    sandbox.world.clock.advance(61)
    empty_external_state()
    return asked


def script_of(sandbox: SandboxClient, owner: Membership, loop: asyncio.Runner) -> Script:
    """A script on the token of the sandbox's account, in an account of its own here."""
    Token.objects.update(state=TokenState.REMOVED)  # of the world before
    profile = sandbox.get("/v2/me").json()["data"]
    account = AccountFactory(tenant=owner.team.tenant, balance=profile["credits"]["remaining"])
    token = TokenFactory(account=account, owner=owner.user)
    token_vault.encrypt_token_into(token, Secret(sandbox.token))
    token.save()
    made = keys.create_key(
        owner.team.tenant, owner.user_id, "conformance", tuple(KeyScope), token=token
    )
    return Script(create_app(), loop, made.key, made.value)
