"""A sandbox in-process on a hand-turned clock, with a film maker that needs no time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from threading import RLock
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.clock import SandboxClock
from proxyapi.sandbox.media_makers import OnDone

READY_SETTINGS = {
    "voice_id": 2114,
    "genre_id": 41,
    "script": "The sea is salty, and for long was not.",
}


class InstantMaker:
    """Writes a few bytes for a film, at once, unless it is told to wait or to break."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.waits = False
        self.films: list[dict[str, Any]] = []
        self.waiting: list[tuple[Path, OnDone]] = []

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        self.films.append(film)
        self.waiting.append((path, done))
        if not self.waits:
            self.go_on()

    def go_on(self) -> None:
        for path, done in self.waiting:
            if self.error is None:
                path.write_bytes(bytes(range(256)) * 4)
            done(self.error)
        self.waiting.clear()


class SandboxClient:
    """Calls a sandbox as one of its customers, whose token is `token`."""

    def __init__(self, folder: Path, loop: asyncio.Runner, **wanted: Any) -> None:
        self._loop = loop
        self._folder = folder
        self.maker = InstantMaker()
        self.app: FastAPI
        self.token = ""
        self.peer = ("127.0.0.1", 4711)
        self.lock = RLock()  # the world takes one request at a time, of whatever thread
        self.start(**wanted)

    def start(self, **wanted: Any) -> None:
        """Start the application, or start it again on the same files."""
        settings = {
            "clock": SandboxClock("frozen"),
            "db": self._folder / "world.sqlite3",
            "seed": 7,
        }
        self.app = create_app(
            media_dir=self._folder / "media", maker=self.maker, **{**settings, **wanted}
        )
        self.world = self.app.state.world

    def call(self, method: str, path: str, **wanted: Any) -> httpx.Response:
        with self.lock:
            return self._loop.run(self.send(method, path, **wanted))

    async def send(self, method: str, path: str, **wanted: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= wanted.pop("headers", {})
        transport = httpx.ASGITransport(app=self.app, client=self.peer)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://sandbox", trust_env=False
        ) as client:
            return await client.request(method, path, headers=headers, **wanted)

    def get(self, path: str, **wanted: Any) -> httpx.Response:
        return self.call("GET", path, **wanted)

    def post(self, path: str, body: Any = None, **wanted: Any) -> httpx.Response:
        return (
            self.call("POST", path, json=body, **wanted)
            if body is not None
            else (self.call("POST", path, **wanted))
        )

    def put(self, path: str, body: Any) -> httpx.Response:
        return self.call("PUT", path, json=body)

    def patch(self, path: str, body: Any) -> httpx.Response:
        return self.call("PATCH", path, json=body)

    # Short ways to what most tests need

    def reset(self, scenario: str, **wanted: Any) -> list[dict[str, Any]]:
        """A named world; the first account's token is used from now on."""
        made = self.post("/_sandbox/reset", {"scenario": scenario, **wanted}).json()
        self.token = made["accounts"][0]["token"]
        accounts: list[dict[str, Any]] = made["accounts"]
        return accounts

    def set(self, **settings: Any) -> None:
        assert self.put("/_sandbox/settings", settings).status_code == 200

    def advance(self, seconds: float) -> None:
        self.post("/_sandbox/clock/advance", {"seconds": seconds})

    def draft(self, **settings: Any) -> int:
        """A draft of type ai-visuals with these settings; returns its id."""
        kind = settings.pop("type", "ai-visuals")
        number = int(self.post("/v2/faceless", {"type": kind}).json()["data"]["id"])
        if settings:
            assert self.patch(f"/v2/faceless/{number}", settings).status_code == 200
        return number

    def rendered(self) -> int:
        """A completed video; returns its id."""
        number = self.draft(**READY_SETTINGS)
        assert self.post(f"/v2/faceless/{number}/render").status_code == 202
        self.advance(60)
        assert self.video(number)["status"] == "completed"
        return number

    def video(self, number: int) -> dict[str, Any]:
        video: dict[str, Any] = self.get(f"/v2/faceless/{number}").json()["data"]["video"]
        return video

    def money(self) -> dict[str, Any]:
        (account, *_) = self.get("/_sandbox/accounts").json()
        audit: dict[str, Any] = self.get(f"/_sandbox/accounts/{account['account_id']}/money").json()
        return audit

    def journal(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = self.get("/_sandbox/journal").json()
        return lines


@pytest.fixture
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def sandbox(tmp_path, loop):
    """A sandbox with one paying account, Mira's."""
    made = SandboxClient(tmp_path, loop)
    made.reset("paid")
    yield made
    if made.world.store is not None:
        made.world.store.close()
