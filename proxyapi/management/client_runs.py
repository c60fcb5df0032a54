"""Runs of a client against the sandbox's fault scenarios (`proxyapi/sandbox/client_checks.py`).

The client is a program. It finds base URL, token, topic and an id of its order in the environment,
makes one film, and ends with exit status 0 if it has it, with another if it has not.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import IO, Any, NamedTuple
from uuid import uuid4

import httpx

from proxyapi.upstream.tls import shared_ssl_context

START_TIMEOUT_S, LOOK_EVERY_S, NOTE_CHARS = 60.0, 0.05, 200


class CheckError(Exception):
    """What keeps a check from running, as a sentence."""


class Target(NamedTuple):
    """Where the client sends its requests: the sandbox itself on a new account, or what stands
    before it, with the token of that and the account in the sandbox that it charges."""

    base_url: str = ""
    token: str = ""
    account_id: int | None = None


class ControlPlane:
    """The control plane of a sandbox at this address. Methods raise `CheckError`."""

    def __init__(self, sandbox: str, slow_s: float) -> None:
        token = os.environ.get("SANDBOX_CONTROL_TOKEN", "")
        self.sandbox, self._slow_s = sandbox.rstrip("/"), slow_s
        self._options: dict[str, Any] = {
            "headers": {"Authorization": f"Bearer {token}"} if token else {},
            "verify": shared_ssl_context(),
            "trust_env": False,
            "timeout": 60,
        }

    def call(self, method: str, path: str, **wanted: Any) -> dict[str, Any]:
        try:
            url = f"{self.sandbox}/_sandbox/{path}"
            answer = httpx.request(method, url, **self._options, **wanted)
            body = dict(answer.json())
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError):
            raise CheckError(f"{self.sandbox} does not answer as a sandbox.") from None
        if not answer.is_success:
            raise CheckError(f"The sandbox refused: {body.get('message', answer.status_code)}")
        return body

    def start(self, scenario: str, account_id: int | None) -> dict[str, Any]:
        body = {"scenario": scenario, "account_id": account_id, "slow_seconds": self._slow_s}
        return self.call("POST", "client-checks", json=body)

    def judge(self, account_id: int, has_film: bool | None) -> dict[str, Any]:
        said = {} if has_film is None else {"has_film": has_film}
        return self.call("GET", f"client-checks/{account_id}", params=said)


@contextmanager
def running_sandbox() -> Iterator[str]:
    """The address of a sandbox in a process of its own. Raises `CheckError`."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            port = unused.getsockname()[1]
        command = [sys.executable, "-m", "proxyapi.sandbox", "--port", str(port)]
        command += ["--db", ":memory:", "--media-dir", folder]
        # Not the command's own pipes, which may carry MCP.
        process = stack.enter_context(
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)  # noqa: S603
        )
        stack.callback(process.terminate)
        end = time.monotonic() + START_TIMEOUT_S
        while not is_listening(port):
            if process.poll() is not None or time.monotonic() > end:
                raise CheckError("The sandbox did not start.")
            time.sleep(LOOK_EVERY_S)
        yield f"http://127.0.0.1:{port}"


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def run_scenario(
    control: ControlPlane, scenario: str, command: str, target: Target, time_limit_s: float
) -> dict[str, Any]:
    """Run the client in one scenario; return the verdict, with what the client last said."""
    started = control.start(scenario, target.account_id)
    environment = {
        "CHECK_BASE_URL": target.base_url or f"{control.sandbox}/v2",
        "CHECK_TOKEN": target.token or started["token"],
        "CHECK_TOPIC": started["topic"],
        "CHECK_ORDER": f"order-{uuid4().hex[:12]}",
    }
    account_id, end = started["account_id"], time.monotonic() + time_limit_s
    with tempfile.TemporaryFile() as said:
        if started["restarts"]:
            with running_client(command, environment, said) as client:
                while client.poll() is None and time.monotonic() < end:
                    if control.judge(account_id, None)["charges"]:
                        break
                    time.sleep(LOOK_EVERY_S)
        with running_client(command, environment, said) as client:
            with suppress(subprocess.TimeoutExpired):
                client.wait(max(end - time.monotonic(), LOOK_EVERY_S))
            status = client.poll()
        note = last_line(said)
    verdict = control.judge(account_id, None if status is None else status == 0)
    if status is None:
        verdict["problems"].append(f"It did not end within {time_limit_s:g} seconds.")
    return {**verdict, "exit_status": status, "last_line": note}


@contextmanager
def running_client(
    command: str, environment: Mapping[str, str], said: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """The client, in a process group of its own, which is killed in the end."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the command is the user's own
            shlex.split(command), env={**os.environ, **environment}, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", "") or str(error)
        raise CheckError(f"The client {command!r} cannot be started: {reason}.") from None
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_line(said: IO[bytes]) -> str:
    said.seek(max(said.seek(0, os.SEEK_END) - 4096, 0))
    lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1].strip()[:NOTE_CHARS] if lines else ""
