"""Makers of media: each film in a process of its own, pictures and voices in a pool of processes,
or something plain at once.

Run as a module it makes what is described on its stdin: a film, or with `kind` what the module
of that name in `media` makes by its `make_described(description, path)`. Each process lowers its
own priority, and ends by itself when the server is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

MAX_PROCESSES = 2
PLAIN_SECONDS = 3.0
# In a pool: no film is waited for, and starting a process takes three times as long as a picture.
QUICK_KINDS = ("portraits", "samples", "stills")
MAX_IDLE_S = 30  # seconds, after which the pool's memory is given back
KINDS = ("clips", "cuts", "portraits", "samples", "stills", "storyboards")

OnDone = Callable[[str | None], None]


class Maker(Protocol):
    """Makes a film at a path, then calls `done` with None, or with what went wrong."""

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None: ...


class PlainMaker:
    """A silent clip of three seconds, written at once: for drills with many renders."""

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        from proxyapi.sandbox.media import films, plainclip, samples, stills

        # Whole or not at all: what stands there after a kill counts as made.
        partial = path.with_name(f".{path.name}.part")
        kind, wanted = film.get("kind"), {key: film[key] for key in film if key != "kind"}
        if kind == "stills":
            stills.write_plain(film, partial)
        elif kind == "samples":
            samples.write_plain(samples.Sample(**wanted), partial)
        else:
            told = film.get("film", film)
            looks = {key: told[key] for key in ("aspect_ratio", "genre", "seed") if key in told}
            plainclip.write_plain_film(
                films.Film(script="", seconds=PLAIN_SECONDS, **looks), partial
            )
        partial.replace(path)
        done(None)


class ProcessMaker:
    def __init__(self) -> None:
        self._room = asyncio.Semaphore(MAX_PROCESSES)
        self._tasks: set[asyncio.Task[None]] = set()
        self._pool: ProcessPoolExecutor | None = None
        self._pooled = 0  # files that the pool has been asked for and has not made yet
        self._closing: asyncio.TimerHandle | None = None

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        make = self._make_quick if film.get("kind") in QUICK_KINDS else self._make
        task = asyncio.get_running_loop().create_task(make(film, path, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _make(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        async with self._room:
            try:
                child = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "proxyapi.sandbox.media_makers"),
                    *(str(path.absolute()), str(os.getpid())),
                    stdin=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,  # ^C reaches the server, which then ends its children
                )
            except OSError as error:
                done(f"The film could not be made: {error.strerror}")
                return
            try:
                _, errors = await child.communicate(json.dumps(film).encode())
            except asyncio.CancelledError:
                child.kill()
                await child.wait()
                raise
        if child.returncode == 0:
            done(None)
        else:
            last = errors.decode(errors="replace").strip().splitlines()[-1:]
            done(f"The film could not be made: {''.join(last) or 'no reason given'}")

    async def _make_quick(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        loop, pool = asyncio.get_running_loop(), self._open_pool()
        self._pooled += 1
        try:
            await loop.run_in_executor(pool, make_described, film, path.absolute())
        except BrokenProcessPool:
            self._close_pool(pool)
            done("The file could not be made: its process has ended")
        except Exception as error:  # the file's own, from the other process
            done(f"The file could not be made: {error}")
        else:
            done(None)
        finally:
            self._pooled -= 1
            if not self._pooled and self._pool is not None:
                self._closing = loop.call_later(MAX_IDLE_S, self._close_pool, self._pool)

    def _open_pool(self) -> ProcessPoolExecutor:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                MAX_PROCESSES, get_context("spawn"), begin_pooled, (os.getpid(),)
            )
        return self._pool

    def _close_pool(self, pool: ProcessPoolExecutor) -> None:
        pool.shutdown(wait=False, cancel_futures=True)
        if pool is self._pool:
            self._pool = None

    async def stop(self) -> None:
        """End the films being made; their jobs go on after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._closing is not None:
            self._closing.cancel()
        if self._pool is not None:
            self._close_pool(self._pool)


def begin_pooled(server: int) -> None:
    """In a process of the pool. ^C reaches the server, which then closes its pool."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    Thread(target=end_with_server, args=(server,), daemon=True).start()


def make_described(wanted: dict[str, Any], path: Path) -> None:
    """A film, or with `kind` what the module of that name makes. Whole or not at all."""
    kind, told = wanted.get("kind"), {key: wanted[key] for key in wanted if key != "kind"}
    if kind in KINDS:
        import_module(f"proxyapi.sandbox.media.{kind}").make_described(told, path)
    else:
        from proxyapi.sandbox.media import films

        films.make_film(films.Film(**told), path)


def end_with_server(server: int) -> None:
    """Nobody waits for what a server wanted that was killed; its next start asks for it again."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    os.nice(5)
    Thread(target=end_with_server, args=(int(sys.argv[2]),), daemon=True).start()
    make_described(json.load(sys.stdin), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
