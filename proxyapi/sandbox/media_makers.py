"""Makers of media: each file in a process of its own, or something plain at once.

Run as a module it makes what is described on its stdin: a film, or with `kind` what the module
of that name in `media` makes by its `make_described(description, path)`. The child lowers its
own priority, and ends by itself when the server is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

MAX_PROCESSES = 2
PLAIN_SECONDS = 3.0
QUICK_KINDS = ("portraits", "samples", "stills")  # in a lane of their own: no film is waited for
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
        self._quick = asyncio.Semaphore(MAX_PROCESSES)
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        task = asyncio.get_running_loop().create_task(self._make(film, path, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _make(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        async with self._quick if film.get("kind") in QUICK_KINDS else self._room:
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

    async def stop(self) -> None:
        """End the films being made; their jobs go on after the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def end_with_server(server: int) -> None:
    """Nobody waits for what a server wanted that was killed; its next start asks for it again."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    os.nice(5)
    Thread(target=end_with_server, args=(int(sys.argv[2]),), daemon=True).start()
    wanted = json.load(sys.stdin)
    path = Path(sys.argv[1])
    kind = wanted.pop("kind", None)
    if kind in KINDS:
        import_module(f"proxyapi.sandbox.media.{kind}").make_described(wanted, path)
    else:
        from proxyapi.sandbox.media import films

        films.make_film(films.Film(**wanted), path)


if __name__ == "__main__":
    main()
