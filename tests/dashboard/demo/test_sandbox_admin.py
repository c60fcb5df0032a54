"""The demo's way to the sandbox, which may just be starting."""

from __future__ import annotations

import socket

import pytest

from dashboard.demo.sandbox_admin import SandboxAdmin


@pytest.mark.parametrize("trouble", [ConnectionRefusedError, TimeoutError, socket.gaierror])
def test_a_sandbox_that_is_not_there_yet_is_waited_for(trouble, monkeypatch):
    """In a network of containers it has no name before it runs."""
    asked: list[str] = []

    def answer(_: SandboxAdmin, method: str, path: str) -> None:
        asked.append(f"{method} {path}")
        if len(asked) < 3:
            raise trouble

    monkeypatch.setattr(SandboxAdmin, "_request", answer)
    SandboxAdmin("http://sandbox:8001/v2").wait_until_ready()

    assert asked == ["GET /_sandbox/clock"] * 3
