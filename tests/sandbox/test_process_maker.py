"""The processes that make films: what becomes of a film when there is none, or no server."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

from proxyapi.sandbox.media_makers import ProcessMaker

ROOT = Path(__file__).parents[2]


def test_a_machine_without_room_for_a_process_fails_the_film(monkeypatch, loop, tmp_path):
    async def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    async def make() -> str | None:
        told: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        ProcessMaker().begin({}, tmp_path / "film.mp4", told.set_result)
        return await told

    monkeypatch.setattr(asyncio, "create_subprocess_exec", full)
    assert loop.run(make()) == "The film could not be made: Cannot allocate memory"


def test_a_maker_ends_by_itself_when_its_server_is_gone(tmp_path):
    """It waits for what it is to make, which a server that was killed will not say any more."""
    gone = str(os.getppid())  # somebody else, as for every child whose parent was killed
    command = [
        sys.executable,
        "-m",
        "proxyapi.sandbox.media_makers",
        str(tmp_path / "film.mp4"),
        gone,
    ]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stderr=pipe) as maker:
        assert maker.wait() == 1
        assert maker.stderr is not None
        assert maker.stderr.read() == b""
