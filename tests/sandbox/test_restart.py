"""A restart, `kill -9` included, loses nothing that was answered."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from proxyapi.sandbox.clock import SandboxClock
from tests.sandbox.conftest import READY_SETTINGS
from tests.servers import find_unused_port, wait_until_ready

ROOT = Path(__file__).parents[2]


def test_a_restart_keeps_everything(sandbox):
    number = sandbox.rendered()
    sandbox.set(rate_limit=50)
    sandbox.put("/v2/account/auto-topup", {"enabled": False})
    sandbox.post("/_sandbox/outcomes", {"statuses": ["failed"]})
    sandbox.post("/_sandbox/faults", {"action": "latency", "ms": 1, "match": {"nth": 1}})
    sandbox.post(f"/v2/faceless/{number}/export")
    for _ in range(9):
        sandbox.get("/v2/me")
    before = sandbox.get("/_sandbox/snapshot").json()
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock("frozen"))
    assert sandbox.get("/_sandbox/snapshot").json() == before
    sandbox.advance(60)
    (export,) = sandbox.get(f"/v2/faceless/{number}").json()["data"]["exports"]
    assert export["status"] == "completed"


def test_tokens_stay_in_the_order_of_their_making(sandbox):
    (account,) = sandbox.get("/_sandbox/accounts").json()
    for label in "abcdef":
        path = f"/_sandbox/accounts/{account['account_id']}/tokens"
        sandbox.post(path, {"label": label})
    before = sandbox.get("/_sandbox/accounts").json()
    sandbox.put("/_sandbox/snapshot", sandbox.get("/_sandbox/snapshot").json())
    assert sandbox.get("/_sandbox/accounts").json() == before
    sandbox.world.store.close()
    sandbox.start()
    assert sandbox.get("/_sandbox/accounts").json() == before


def test_a_restart_keeps_the_clock_that_was_set(sandbox):
    turn = {"mode": "frozen", "now": "2027-03-01T00:00:00Z"}
    set_to = sandbox.put("/_sandbox/clock", turn).json()
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock())
    assert sandbox.get("/_sandbox/clock").json() == set_to


def test_what_memory_holds_is_what_the_file_holds(sandbox):
    number = sandbox.rendered()
    sandbox.post("/_sandbox/outcomes", {"id": number, "statuses": ["rendering", "failed"]})
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    sandbox.get(f"/v2/faceless/{number}")
    kept = {
        (kind, row["id"]): row
        for kind, rows in sandbox.world.store.read().items()
        for row in json.loads(rows)
    }
    for kind, table in sandbox.world.tables.items():
        for row in table:
            assert kept.pop((kind, row.id)) == row.model_dump(mode="json")
    assert kept == {}


def test_only_changed_rows_are_written(sandbox):
    sandbox.draft(**READY_SETTINGS)
    written: list[dict[tuple[str, str], str | None]] = []
    sandbox.world.store.write = lambda rows, clear: written.append(rows)
    sandbox.get("/v2/me")
    (rows,) = written
    assert {kind for kind, _ in rows} == {"note", "visit", "window"}
    assert len(rows) == 3


def test_a_film_that_was_not_made_is_made_after_the_restart(sandbox):
    sandbox.maker.waits = True
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.world.store.close()
    sandbox.maker.waiting.clear()
    sandbox.maker.waits = False
    sandbox.start()
    sandbox.advance(60)
    assert sandbox.video(number)["status"] == "completed"


class SandboxProcess:
    """The true program, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.port = find_unused_port()
        # No connection outlives a call: the next one may find another process.
        alone = httpx.Limits(max_keepalive_connections=0)
        address = f"http://127.0.0.1:{self.port}"
        self.http = httpx.Client(base_url=address, trust_env=False, limits=alone)
        self._folder = folder
        self.process: subprocess.Popen[bytes]

    def start(self) -> float:
        """Start and wait for the first answer; returns the seconds it took."""
        begun = time.monotonic()
        options = ["--port", str(self.port), "--db", str(self._folder / "world.sqlite3")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "proxyapi.sandbox", *options,
             "--media-dir", str(self._folder / "media")],
            cwd=ROOT, env={**os.environ, "DJANGO_SETTINGS_MODULE": "nothing"},
        )  # fmt: skip
        wait_until_ready(self.process, lambda: self.get("/_sandbox/clock"), httpx.TransportError)
        return time.monotonic() - begun

    def get(self, path: str, token: str = "") -> httpx.Response:
        return self.call("GET", path, token)

    def call(self, method: str, path: str, token: str = "", **wanted) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return self.http.request(method, path, headers=headers, **wanted)

    def send_and_leave(self, method: str, path: str, token: str, body: dict[str, object]) -> None:
        """Send a request, and close the connection without waiting for its answer."""
        headers = {"Authorization": f"Bearer {token}"}
        request = self.http.build_request(method, path, headers=headers, json=body)
        head = [f"{method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in request.headers.items())]
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall("\r\n".join([*head, "", ""]).encode() + request.content)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def server(tmp_path):
    made = SandboxProcess(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.process.terminate()
        ended = made.process.wait()
        made.http.close()
    assert ended in (0, -signal.SIGTERM)


@pytest.mark.slow
def test_kill_9_loses_nothing_that_was_answered(server):
    """A true process is killed in the middle of a render, and finishes it after the start."""
    made = server.call("POST", "/_sandbox/reset", json={"scenario": "paid"}).json()
    token = made["accounts"][0]["token"]
    server.call("PUT", "/_sandbox/settings", json={"render_seconds": 0.5})
    draft = server.call("POST", "/v2/faceless", token, json={"type": "ai-visuals"}).json()
    path = f"/v2/faceless/{draft['data']['id']}"
    server.call("PATCH", path, token, json=READY_SETTINGS)
    assert server.call("POST", f"{path}/render", token).status_code == 202
    server.kill()
    server.start()
    account = server.get("/v2/me", token).json()["data"]
    assert account["credits"]["remaining"] == 990
    assert len(server.get("/_sandbox/journal").json()) == 4

    def completed():
        server.call("POST", "/_sandbox/clock/advance", json={"seconds": 60})
        video = server.get(path, token).json()["data"]["video"]
        return video if video["status"] == "completed" else None

    video = wait_for_value(completed)
    film = server.http.get(video["url"], headers={"Range": "bytes=4-7"})
    assert (film.status_code, film.content) == (206, b"ftyp")


@pytest.mark.slow
def test_faults_of_the_connection_reach_the_socket(server):
    """Needs a true connection."""
    made = server.call("POST", "/_sandbox/reset", json={"scenario": "paid"}).json()
    token = made["accounts"][0]["token"]
    for action, error, cause in (
        ("reset", httpx.ReadError, "Connection reset"),
        ("close", httpx.RemoteProtocolError, "without sending a response"),
        ("half_body", httpx.RemoteProtocolError, "without sending complete message body"),
    ):
        fault = {"action": action, "when": "after", "times": 1}
        server.call("POST", "/_sandbox/faults", json=fault)
        with pytest.raises(error) as caught:
            server.get("/v2/me", token)
        assert cause in f"{caught.value} {_deepest(caught.value)}"
        assert server.get("/v2/me", token).status_code == 200


@pytest.mark.slow
def test_a_client_that_does_not_wait_for_a_late_answer_does_not_learn_its_charge(server):
    """Needs a true connection, and a client that leaves."""
    made = server.call("POST", "/_sandbox/reset", json={"scenario": "paid"}).json()
    (account,) = made["accounts"]
    draft = server.call("POST", "/v2/faceless", account["token"], json={"type": "b-roll"})
    path = f"/v2/faceless/{draft.json()['data']['id']}/scripts"
    fault = {"match": {"method": "PUT"}, "action": "latency", "ms": 1000, "times": 1}
    server.call("POST", "/_sandbox/faults", json=fault)
    wish = {"topic": "tides", "duration": 30}
    server.send_and_leave("PUT", path, account["token"], wish)

    def money():
        return server.get(f"/_sandbox/accounts/{account['account_id']}/money").json()

    def not_answered():
        """The charge comes once the request was worked at, the mark once its answer was late."""
        charges = [one for found in money()["charges"].values() for one in found]
        return charges and not any(one["answered"] for one in charges)

    assert wait_for_value(not_answered)
    assert money()["balance"] == 996
    server.call("PUT", path, account["token"], json=wish)
    assert len(money()["double_charges"]) == 1


def wait_for_value(asked):
    """What was asked for, as soon as it is there."""
    pause = threading.Event()
    while not (found := asked()):
        pause.wait(0.02)
    return found


def _deepest(error: BaseException) -> BaseException:
    while (below := error.__cause__ or error.__context__) is not None:
        error = below
    return error
