"""The studio: brings jobs forward on the clock and has their films made meanwhile.

Films are made outside the server, so that the event loop stays free and a broken film breaks
only itself. What a killed server left unmade is made after the next start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from heapq import heappop
from pathlib import Path

from proxyapi.sandbox import jobs, media_url
from proxyapi.sandbox.characters import training
from proxyapi.sandbox.clips import asset
from proxyapi.sandbox.faceless import exports, rendering
from proxyapi.sandbox.media_makers import Maker, PlainMaker
from proxyapi.sandbox.pictures import PictureStore
from proxyapi.sandbox.records import Job, JobKind
from proxyapi.sandbox.storyboards import rendering as storyboard
from proxyapi.sandbox.voice_clones import clone
from proxyapi.sandbox.world import World

AdvanceJob = Callable[[World, Job], None]

ADVANCE_BY_KIND: dict[JobKind, AdvanceJob] = {
    "faceless": rendering.advance_render,
    "export": exports.advance_export,
    "text-to-video": asset.advance_clip,
    "refund": asset.advance_refund,
    "character": training.advance_training,
    "voice-clone": clone.advance_clone,
    "storyboard": storyboard.advance_render,
    "scene-clip": storyboard.advance_clip,
}


class JobRunner:
    def __init__(self, world: World, media_dir: Path, maker: Maker) -> None:
        self.world = world
        self.media_dir = media_dir
        self._maker = maker
        self._making: set[str] = set()
        self._promises_films = False
        self.pictures = PictureStore(world, media_dir, maker)
        media_dir.mkdir(parents=True, exist_ok=True)
        self._remove_files()

    def tick(self) -> None:
        """Bring the jobs that are due to where they are now, and begin their films.

        By one instant: a job whose time is over between two readings would end with the word that
        it had before.
        """
        with self.world.clock.freeze_reads():
            self._advance_jobs()

    def _advance_jobs(self) -> None:
        world = self.world
        while world.agenda and world.agenda[0][0] <= world.now:
            job = world.jobs.get(heappop(world.agenda)[1])
            if job is None or job.ended:
                continue
            if jobs.needs_file(job) and job.file not in self._making:
                self._begin(job)
            ADVANCE_BY_KIND[job.kind](world, job)
            when = jobs.next_change_at(world, job)
            if when is not None and not job.ended:
                world.schedule_job(job.id, when)

    def _begin(self, job: Job) -> None:
        name = str(job.file)
        path = self.media_dir / name
        self._making.add(name)
        # Made just before the server was killed (films appear whole), or when it is asked for.
        if self._promises_films or path.exists():
            self._on_media_made(name, None)
        else:
            plain = self.world.settings.films == "plain"
            maker = PlainMaker() if plain else self._maker
            maker.begin(job.film or {}, path, partial(self._on_media_made, name))

    def _on_media_made(self, name: str, error: str | None) -> None:
        self._making.discard(name)
        newest_first = reversed(self.world.jobs.rows.values())
        # By its name: in a world reset meanwhile another job may wait for the same film.
        job = next((it for it in newest_first if it.file == name), None)
        if job is None:
            (self.media_dir / name).unlink(missing_ok=True)
            return
        job.made = error is None
        if error is not None:
            job.statuses[-1] = "failed"
            job.failure = {"code": "RENDER-FAILED", "message": error}
        self.world.jobs.put(job)
        self.world.schedule_job(job.id)
        self.save()

    @contextmanager
    def promised_films(self) -> Iterator[None]:
        """Films that begin within are made when somebody asks for them (`PictureStore`)."""
        self._promises_films = True
        try:
            yield
        finally:
            self._promises_films = False

    def empty(self, seed: int | None) -> None:
        """Empty the world; its files leave with it."""
        world = self.world
        files = [str(it.id) for it in world.stills] + [it.file for it in world.jobs if it.file]
        world.empty(seed)
        for name in files:
            world.remove_file_later(name)

    def save(self) -> None:
        """Save the world, then remove the files that it does not show any more.

        A kill in between leaves their names saved, and the next start removes them.
        """
        self.world.commit()
        self._remove_files()

    def _remove_files(self) -> None:
        for name in list(self.world.leaving.rows):
            if media_url.NAME.fullmatch(str(name)):  # a snapshot may hold any text
                (self.media_dir / str(name)).unlink(missing_ok=True)
            self.world.leaving.drop(name)
