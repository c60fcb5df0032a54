"""A call ends at its documented time, however slowly its answer arrives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from httpcore import NetworkStream, SyncBackend

from proxyapi.operations import OPERATIONS
from proxyapi.upstream import deadline, errors, transport
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret

RENDER: Any = {"path": {"faceless": 7}}
LONGEST_S = OPERATIONS["faceless.render"].max_duration_s + 5


class SlowHeaders(NetworkStream):
    """A header whose value never ends; each byte takes a second of this clock."""

    def __init__(self) -> None:
        self.now, self.start = 0.0, b"HTTP/1.1 202 Accepted\r\nX-Slow: "

    def monotonic(self) -> float:
        return self.now

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        assert self.now < 10 * LONGEST_S, "it goes on for ever"
        self.now += 1
        part, self.start = self.start or b"a", b""
        return part

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    def close(self) -> None:
        pass


def test_headers_that_trickle_end_at_the_time_of_the_operation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = SlowHeaders()
    for module in (deadline, transport):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=slow.monotonic))
    monkeypatch.setattr(SyncBackend, "connect_tcp", lambda *_: slow)
    with (
        UpstreamClient("http://service.test/v2", OPERATIONS) as client,
        pytest.raises(errors.ResponseLost),
    ):
        client.call("faceless.render", Secret("sbx_token"), **RENDER)
    assert slow.now <= LONGEST_S
