"""The studio: brings jobs forward on the clock and has their films made meanwhile.

Films are made outside the server, so that the event loop stays free and a broken film breaks
only itself. What a killed server left unmade is made after the next start.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from proxyapi.sandbox import jobs
from proxyapi.sandbox.faceless import exports, rendering
from proxyapi.sandbox.records import Job
from proxyapi.sandbox.world import World

Follow = Callable[[World, Job], None]
Done = Callable[[str | None], None]

FOLLOW: dict[str, Follow] = {"faceless": rendering.follow, "export": exports.follow}


class Maker(Protocol):
    """Makes a film at a path, then calls `done` with None, or with what went wrong."""

    def begin(self, film: dict[str, Any], path: Path, done: Done) -> None: ...


class Studio:
    def __init__(self, world: World, media_dir: Path, maker: Maker) -> None:
        self.world = world
        self.media_dir = media_dir
        self._maker = maker
        self._making: set[str] = set()
        media_dir.mkdir(parents=True, exist_ok=True)

    def tick(self) -> None:
        """Bring every running job to where it is now, and begin the films not yet begun."""
        world = self.world
        for job_id in sorted(world.running):
            job = world.jobs.rows[job_id]
            if jobs.needs_file(job) and job.file not in self._making:
                self._begin(job)
            FOLLOW[job.kind](world, job)

    def _begin(self, job: Job) -> None:
        name = str(job.file)
        path = self.media_dir / name
        self._making.add(name)
        if path.exists():  # made just before the server was killed; films appear whole
            self._made(job.id, name, None)
        else:
            done = partial(self._made, job.id, name)
            self._maker.begin(job.film or {}, path, done)

    def _made(self, job_id: int, name: str, error: str | None) -> None:
        self._making.discard(name)
        job = self.world.jobs.get(job_id)
        if job is None or job.file != name:  # the world was reset meanwhile
            (self.media_dir / name).unlink(missing_ok=True)
            return
        job.made = error is None
        if error is not None:
            job.statuses[-1] = "failed"
            job.failure = {"code": "RENDER-FAILED", "message": error}
        self.world.jobs.put(job)
        self.world.commit()

    def clear(self) -> None:
        """Remove the files of this world, before it is emptied."""
        for job in self.world.jobs:
            if job.file:
                (self.media_dir / job.file).unlink(missing_ok=True)
