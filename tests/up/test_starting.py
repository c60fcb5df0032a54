"""What a start meets: a preparation that fails, a Redis that was there before, a `nohup`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from dashboard.up.__main__ import start_programs, wait_for_stop_signal, web_command
from dashboard.up.install_paths import Installation
from tests.up.supervisors import run_stub_supervisor


def test_a_preparation_that_fails_is_reported_in_sentences(tmp_path: Path) -> None:
    """The real preparation, beside stubs of the other programs."""
    prepare = f"exec {sys.executable} manage.py prepare"
    done = run_stub_supervisor(tmp_path, STUB_PREPARE=prepare, TIME_ZONE="Europe/Berln")
    output = done.stdout + done.stderr
    assert "prepare  | TIME_ZONE must be a time zone such as Europe/Paris, or UTC." in output
    assert "reelroom: The prepare command failed (exit code 1); see its last lines." in output
    assert "Traceback" not in output
    assert "exited" not in output


@pytest.mark.parametrize("option", ["--timeout-keep-alive", "--timeout-graceful-shutdown"])
def test_the_image_serves_as_patiently(option: str, tmp_path: Path) -> None:
    environ = {"REELROOM_VAR": str(tmp_path)}
    ours = web_command(Installation.from_environ(environ))
    server = Path("Dockerfile").read_text().partition("exec uvicorn")[2]
    assert f"{option} {ours[ours.index(option) + 1]}" in server


class RecordingProcesses:
    """In the place of `Processes`: it starts nothing, and notes what was asked of it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def start(self, name: str, *_: object) -> None:
        self.asked.append(name)

    async def wait_for_exit(self, _: str) -> int:
        return 0


@pytest.mark.parametrize(
    ("redis", "last"),
    [
        ("redis://elsewhere", ["charges", "slow", "ready"]),
        ("", ["ready", "charges", "slow"]),
    ],
)
def test_a_redis_that_was_there_before_may_know_of_slow_work_that_waits(
    redis: str, last: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = RecordingProcesses()

    async def until(otherwise: str, _: object) -> None:
        if otherwise == "The portal is not ready":
            processes.asked.append("ready")

    monkeypatch.setattr("dashboard.up.__main__.wait_until", until)
    monkeypatch.setattr("dashboard.up.__main__.welcome_text", lambda *_: "")
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path), "REDIS_URL": redis})

    asyncio.run(start_programs(place, processes, tmp_path, 0.0))  # type: ignore[arg-type]

    assert processes.asked[-3:] == last


def test_a_closed_terminal_does_not_stop_what_was_started_to_outlive_it() -> None:
    async def stop_by_signal() -> object:
        task = asyncio.create_task(wait_for_stop_signal(None))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        ignored = signal.getsignal(signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        await task
        return ignored

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        assert asyncio.run(stop_by_signal()) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
