"""The processes that make films: what becomes of a film when there is none, or no server."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil

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


STILL = {"kind": "stills", "text": "A glacier", "aspect_ratio": "16:9"}


async def make_file(maker: ProcessMaker, wanted: dict[str, Any], path: Path) -> str | None:
    told: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
    maker.begin(wanted, path, told.set_result)
    return await told


def test_pictures_are_made_after_one_another_by_processes_that_stay(loop, tmp_path):
    async def make() -> list[set[int]]:
        maker, seen = ProcessMaker(), []
        for number in range(2):
            path = tmp_path / f"{number}.jpg"
            assert await make_file(maker, {**STILL, "seed": number}, path) is None
            assert path.read_bytes()[:2] == b"\xff\xd8"
            seen.append({it.pid for it in psutil.Process().children() if is_pooled(it)})
        await maker.stop()
        return seen

    first, second = loop.run(make())
    assert first and first <= second  # one more, if the first had not said yet that it is idle
    assert len(second) <= 2


def is_pooled(process: psutil.Process) -> bool:
    return "multiprocessing.spawn" in " ".join(process.cmdline())


def test_a_pool_that_lost_a_process_fails_that_file_alone(loop, tmp_path):
    async def make() -> tuple[str | None, str | None]:
        maker = ProcessMaker()
        assert await make_file(maker, STILL, tmp_path / "first.jpg") is None
        for child in psutil.Process().children():
            if is_pooled(child):
                child.kill()
        lost = await make_file(maker, STILL, tmp_path / "lost.jpg")
        again = await make_file(maker, STILL, tmp_path / "lost.jpg")
        await maker.stop()
        return lost, again

    assert loop.run(make()) == ("The file could not be made: its process has ended", None)


def test_what_cannot_be_made_says_why(loop, tmp_path):
    async def make() -> str | None:
        maker = ProcessMaker()
        said = await make_file(maker, STILL, tmp_path / "missing" / "x.jpg")
        await maker.stop()
        return said

    assert str(loop.run(make())).startswith("The file could not be made: ")


def test_a_pool_ends_by_itself_when_its_server_is_killed(tmp_path):
    server = f"""
import asyncio, pathlib, psutil
from proxyapi.sandbox.media_makers import ProcessMaker
async def serve():
    told = asyncio.get_running_loop().create_future()
    ProcessMaker().begin({STILL!r}, pathlib.Path({str(tmp_path / "a.jpg")!r}), told.set_result)
    await told
    print(*(child.pid for child in psutil.Process().children()), flush=True)
    await asyncio.sleep(60)
asyncio.run(serve())
"""
    with subprocess.Popen(
        [sys.executable, "-c", server], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        children = [psutil.Process(int(pid)) for pid in process.stdout.readline().split()]
        assert any(is_pooled(child) for child in children)
        process.kill()
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []
