"""Agents in this process: the SDK's own client before the MCP server, over the real sandbox, with
a worker that takes what is enqueued."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.utils import timezone
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp.client.streamable_http import streamable_http_client

from dashboard.models import Membership
from proxyapi.credentials import token_vault
from proxyapi.gateway import keys
from proxyapi.gateway.app import Gateway
from proxyapi.mcp_server.app import McpApp
from proxyapi.models import ApiKey, Job, KeyScope, Token
from proxyapi.polling.poller import poll_job
from proxyapi.sandbox.clock import FROZEN_START
from proxyapi.upstream.secret import Secret
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Worker, worker
from tests.proxyapi.gateway.sandbox_script import use_sandbox
from tests.sandbox.conftest import SandboxClient

__all__ = ["worker"]
SETTINGS = {"voice_id": 2114, "genre_id": 41}
FILM = {"kind": "video", "script": "The sea is salty, and for long was not.", "settings": SETTINGS}


class Agent:
    """A key of a member in an MCP client. `mode` is the generation of the protocol."""

    def __init__(
        self, app: Any, loop: asyncio.Runner, key: ApiKey, value: str, token: Token
    ) -> None:
        self.app, self.loop, self.key, self.value = app, loop, key, value
        self.token = token
        self.mode = "auto"
        self.extensions: tuple[ClientExtension, ...] = ()

    @asynccontextmanager
    async def connect(self, **headers: str) -> AsyncIterator[Client]:
        transport = httpx2.ASGITransport(self.app, client=("127.0.0.1", 4711))
        headers = {"authorization": f"Bearer {self.value}", **headers}
        async with (
            httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as http,
            Client(
                streamable_http_client("http://localhost:8000/mcp", http_client=http),
                mode=self.mode,
                extensions=self.extensions,
            ) as client,
        ):
            yield client

    async def ask(self, tool: str, **arguments: Any) -> Any:
        async with self.connect() as client:
            return await client.call_tool(tool, arguments)

    def result(self, tool: str, **arguments: Any) -> Any:
        """The whole result of one call, as the client has it."""
        return self.loop.run(self.ask(tool, **arguments))

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The facts of the answer."""
        result = self.result(tool, **arguments)
        assert result.structured_content is not None, result.content
        return dict(result.structured_content)

    def at_once(self, count: int, tool: str, **arguments: Any) -> list[dict[str, Any]]:
        async def ask_all() -> list[Any]:
            return list(await asyncio.gather(*(self.ask(tool, **arguments) for _ in range(count))))

        return [dict(result.structured_content) for result in self.loop.run(ask_all())]

    def pay(self, quote: dict[str, Any]) -> dict[str, Any]:
        return self.call("make", quote_id=quote["quote_id"], price=quote["price"])


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxClient]:
    with asyncio.Runner() as runner:
        made = SandboxClient(tmp_path, runner, db=None)
        made.world.clock.set_mode("frozen", now=FROZEN_START)
        made.reset("paid")
        made.set(rate_limit=900)
        use_sandbox(made, monkeypatch)
        yield made


@pytest.fixture
def token(sandbox: SandboxClient, priya: Membership) -> Token:
    profile = sandbox.get("/v2/me").json()["data"]
    account = AccountFactory(tenant=priya.team.tenant, balance=profile["credits"]["remaining"])
    made: Token = TokenFactory(account=account, owner=priya.user)
    token_vault.encrypt_token_into(made, Secret(sandbox.token))
    made.save()
    return made


@pytest.fixture
def make_agent(
    transactional_db: None, worker: Worker, priya: Membership, token: Token
) -> Iterator[Callable[..., Agent]]:
    """Agents of Priya's; arguments are the fields of their key."""
    app = McpApp(Gateway())
    with asyncio.Runner() as loop:

        def make(**fields: Any) -> Agent:
            owner, scopes = fields.pop("owner", priya), fields.pop("scopes", tuple(KeyScope))
            made = keys.create_key(owner.team.tenant, owner.user_id, "Claude", scopes, **fields)
            return Agent(app, loop, made.key, made.value, token)

        yield make


@pytest.fixture
def agent(make_agent: Callable[..., Agent]) -> Agent:
    return make_agent(allowance=Decimal(500))


def finish_render(sandbox: SandboxClient, job_id: str) -> None:
    """Let the sandbox render for an hour, and poll the job."""
    sandbox.advance(3600)
    remote_id = Job.objects.get(pk=job_id).remote_id
    assert sandbox.get(f"/v2/faceless/{remote_id}").json()["data"]["video"]["url"]
    Job.objects.filter(pk=job_id).update(next_poll_at=timezone.now(), polled_at=None)
    poll_job(Job.objects.get(pk=job_id).pk)
