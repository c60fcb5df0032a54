"""The real sandbox in its own process, and a producer's job that is ready to render on it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxyapi import calls, tokens
from proxyapi.kinds import faceless_draft
from proxyapi.models import Job, Token
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from proxyapi.upstream.tls import shared_ssl_context
from tests.conftest import asks_database
from tests.factories import JobFactory, TenantFactory, UserFactory
from tests.leak_search import searched_for_leaks
from tests.proxyapi.money.sandbox_account import ACCOUNT_DATA, SETTINGS, SandboxAccount
from tests.servers import find_unused_port, wait_until_ready


@pytest.fixture(autouse=True)
def _no_token_gets_out(request: pytest.FixtureRequest) -> Iterator[None]:
    """pitfall_92: whatever fault or kill a test orders."""
    if not asks_database(request.node):
        yield
        return
    with searched_for_leaks(request) as canaries:
        yield
    assert canaries.leaked_tokens() == []


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a sandbox process; its films are made on a fast clock."""
    with started_sandbox(tmp_path_factory.mktemp("sandbox")) as address:
        yield address


@contextmanager
def started_sandbox(folder: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """A sandbox process that listens on `host`; answers its address on 127.0.0.1."""
    port = find_unused_port()
    command = [sys.executable, "-m", "proxyapi.sandbox", "--host", host, "--port", str(port)]
    command += ["--db", str(folder / "world.sqlite3"), "--media-dir", str(folder / "media")]
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        with httpx.Client() as client:
            clock = f"{address}/_sandbox/clock"
            wait_until_ready(process, lambda: client.get(clock), httpx.TransportError)
        yield address
        process.terminate()
        process.wait()


@pytest.fixture
def control(sandbox: str) -> Iterator[httpx.Client]:
    """The sandbox's control plane, on an empty world."""
    with httpx.Client(
        base_url=f"{sandbox}/_sandbox/", verify=shared_ssl_context(), timeout=30
    ) as client:
        client.post("reset", json={})
        yield client


@pytest.fixture
def account(control: httpx.Client) -> dict[str, Any]:
    return dict(control.post("accounts", json=ACCOUNT_DATA).json())


@pytest.fixture
def token(
    db: None, sandbox: str, account: dict[str, Any], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Token]:
    settings.VIDEO_API_BASE_URL = f"{sandbox}/v2"
    with UpstreamClient(f"{sandbox}/v2", OPERATIONS) as client:
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(account["token"]))
        tokens.refresh_account_profile(token.account)
        token.account.refresh_from_db()
        yield token


@pytest.fixture
def job(token: Token) -> Job:
    """A draft with its price, as the studio leaves it."""
    first = token.account.options["mandatory"]
    chosen = {"voice_id": first["voices"][0]["id"], "genre_id": first["genres"][0]["id"]}
    wanted = {"type": "ai-visuals", "title": "Ice", "script": "Ice moves. Slowly.", **chosen}
    job = JobFactory(
        account=token.account, token=token, member=token.owner, title="Ice", draft__settings=wanted
    )
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.has_current_estimate
    return job


@pytest.fixture
def money(control: httpx.Client, account: dict[str, Any]) -> Callable[[], dict[str, Any]]:
    """What the sandbox's own records say of the account."""
    return lambda: dict(control.get(f"accounts/{account['account_id']}/money").json())


@pytest.fixture
def sandbox_account(
    control: httpx.Client, account: dict[str, Any], sandbox: str, token: Token, settings: Any
) -> Iterator[SandboxAccount]:
    """The account with everything priced, and waits that a test can wait for."""
    settings.CHARGE_BOOKING_GRACE_S, settings.CHARGE_RETRY_INTERVAL_S = 0.2, 0.1
    settings.CHARGE_IN_FLIGHT_MAX_S = 0.2
    assert control.put("settings", json=SETTINGS).is_success
    bearer = {"Authorization": f"Bearer {account['token']}"}
    with httpx.Client(
        base_url=f"{sandbox}/v2", headers=bearer, verify=shared_ssl_context(), timeout=30
    ) as direct:
        yield SandboxAccount(control, direct, account["account_id"], token)
