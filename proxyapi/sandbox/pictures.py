"""Pictures of assets: promised under a name at once, drawn when somebody looks at them.

Pictures that came from outside, uploaded or fetched, are kept as they came.
"""

from __future__ import annotations

import asyncio
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proxyapi.sandbox import file_names
from proxyapi.sandbox.media_makers import Maker, PlainMaker
from proxyapi.sandbox.records import Still
from proxyapi.sandbox.world import World

MAX_DRAW_WAIT_S = 30  # seconds, of the machine's time


def promise_picture(world: World, *, extension: str | None = None, **description: Any) -> str:
    """The name of a picture that will be drawn as `media.stills` describes it.

    Another `kind` of picture than stills comes with its `extension`.
    """
    drawn = find_spec("PIL") is not None and world.settings.films == "made"
    described = {"kind": "stills", **description}
    name = file_names.new_file_name(world, described, extension or ("jpg" if drawn else "png"))
    world.stills.put(Still(id=name, description=described))
    return name


class PictureStore:
    def __init__(self, world: World, media_dir: Path, maker: Maker) -> None:
        self._world = world
        self._media_dir = media_dir
        self._maker = maker
        self._drawing: dict[str, asyncio.Future[bool]] = {}

    def keep(self, data: bytes, extension: str) -> str:
        """Keep a file that came from outside; returns its name."""
        name = file_names.new_file_name(self._world, data, extension)
        (self._media_dir / name).write_bytes(data)
        self._world.stills.put(Still(id=name))
        return name

    def remove(self, name: str) -> None:
        """Let go of a picture that no asset shows any more."""
        if self._world.stills.get(name) is not None:
            self._world.stills.drop(name)
            self._world.remove_file_later(name)

    async def ensure_drawn(self, name: str) -> bool:
        """Draw a promised picture and wait for it; False if there is none of that name.

        A film that a reset took, and a snapshot has brought back, is made again.
        """
        description = self._description(name)
        if description is None:
            return False
        if name not in self._drawing:
            self._drawing[name] = asyncio.get_running_loop().create_future()
            maker = PlainMaker() if self._is_plain(name, description) else self._maker
            maker.begin(description, self._media_dir / name, partial(self._done, name))
        waiting = self._drawing.get(name)
        if waiting is None:  # a maker that needed no time
            return (self._media_dir / name).is_file()
        try:
            return await asyncio.wait_for(asyncio.shield(waiting), MAX_DRAW_WAIT_S)
        except TimeoutError:
            return False

    def _description(self, name: str) -> dict[str, Any] | None:
        if still := self._world.stills.get(name):
            return still.description
        jobs = (job for job in self._world.jobs if job.file == name and job.made)
        return next((job.film for job in jobs), None)

    def _is_plain(self, name: str, description: dict[str, Any]) -> bool:
        if name.endswith(".png") and description.get("kind") == "stills":
            return True
        return name.endswith((".mp4", ".wav")) and self._world.settings.films == "plain"

    def _done(self, name: str, error: str | None) -> None:
        waiting = self._drawing.pop(name, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(error is None)
        if self._description(name) is None:  # forgotten meanwhile
            (self._media_dir / name).unlink(missing_ok=True)
