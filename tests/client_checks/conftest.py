"""The naive client, and the gateway on a port of this machine, before the real sandbox."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
import uvicorn
from django.db import connection

from dashboard.models import Membership
from proxyapi import calls, tokens
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.gateway import keys
from proxyapi.gateway.app import Gateway, create_app
from proxyapi.management.client_runs import Target
from proxyapi.mcp_server import PATH
from proxyapi.mcp_server.app import McpApp
from proxyapi.models import ChargeState, KeyScope
from proxyapi.operations import OPERATIONS
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job
from proxyapi.sandbox.scenarios import NewAccount
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from tests.proxyapi.gateway.conftest import Worker, worker
from tests.proxyapi.money.conftest import control, sandbox
from tests.servers import find_unused_port

__all__ = ["control", "sandbox", "worker"]
NAIVE, AGENT = (
    shlex.join([sys.executable, str(Path(__file__).parent / name)])
    for name in ("naive_client.py", "naive_agent.py")
)


@contextmanager
def listening_portal() -> Iterator[str]:
    """The gateway's base URL, served by a thread, and the MCP server beside it."""
    port, gateway = find_unused_port(), Gateway()
    app, mcp_app = create_app(gateway), McpApp(gateway)

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        await (mcp_app if scope["path"] == PATH else app)(scope, receive, send)

    settings = uvicorn.Config(
        serve,
        port=port,
        access_log=False,
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(settings)
    thread = Thread(target=server.run)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/api/v2"
    finally:
        server.should_exit = True
        thread.join()


def run_beat(is_over: Event) -> None:
    """Send what waits, read back what was lost, and poll, each when it is due."""
    try:
        while not is_over.wait(0.1):
            for charge_id, state in due_work.lease_due_charges():
                (dispatch_charge if state == ChargeState.HELD else reconcile_charge)(charge_id)
            for job_id, until in due_work.lease_due_jobs():
                poll_job(job_id, until)
    finally:
        connection.close()


@contextmanager
def running_beat() -> Iterator[None]:
    is_over = Event()
    thread = Thread(target=run_beat, args=(is_over,))
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@pytest.fixture
def portal(
    sandbox: str,
    control: Any,
    worker: Worker,
    priya: Membership,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[], Target]]:
    """Makes an account in the sandbox, its token in the portal, and a key of Priya's for it."""
    settings.VIDEO_API_BASE_URL = f"{sandbox}/v2"
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    settings.CHARGE_BOOKING_GRACE_S, settings.CHARGE_RETRY_INTERVAL_S = 0.2, 0.1
    settings.CHARGE_IN_FLIGHT_MAX_S = 1

    def make() -> Target:
        account = control.post("accounts", json=NewAccount().model_dump(exclude_none=True)).json()
        stored = tokens.store_token(priya.team.tenant, priya.user_id, Secret(account["token"]))
        tokens.refresh_account_profile(stored.account)
        made = keys.create_key(
            priya.team.tenant, priya.user_id, "naive", tuple(KeyScope), token=stored
        )
        return Target(base_url, made.value, account["account_id"])

    with UpstreamClient(f"{sandbox}/v2", OPERATIONS) as client:
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        monkeypatch.setattr("proxyapi.gateway.app.upstream_client", lambda: client)
        with running_beat(), listening_portal() as base_url:
            yield make
