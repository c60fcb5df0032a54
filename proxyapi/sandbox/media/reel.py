"""One film from script to file: speech, pictures, camera, captions, sound."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from PIL import Image

from proxyapi.sandbox.media import encode, portraits, transitions
from proxyapi.sandbox.media.camera import MARGIN, Shot
from proxyapi.sandbox.media.captions import Captions
from proxyapi.sandbox.media.encode import FRAME_RATE
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.overlays import FilmOverlay
from proxyapi.sandbox.media.planes import Planes
from proxyapi.sandbox.media.scenes import CharacterDrawer, draw_scene
from proxyapi.sandbox.media.sound import mix
from proxyapi.sandbox.media.storyline import build_storyline
from proxyapi.sandbox.media.text_analysis import read_theme
from proxyapi.sandbox.media.titles import Titles

_WORKERS = 2
_AHEAD = 6  # frames in the making; more would only cost memory


class Reel:
    """The frames of a film; every frame follows from the film and its number alone."""

    def __init__(self, film: Film, size: tuple[int, int], media_dir: Path = Path()) -> None:
        self.film, self.size = film, size
        self.character = (
            portraits.character_drawer(film.character, media_dir) if film.character else None
        )
        self.story = build_storyline(film, Captions.letters(size))
        self.count = max(1, round(self.story.seconds * FRAME_RATE))
        self.captions = Captions(film, self.story.phrases, size)
        self.titles = Titles(film, size)
        self.veil = FilmOverlay(film, size)
        self.overlap = transitions.SECONDS.get(film.transition, transitions.SECONDS["fade"])
        self.theme = read_theme(film.title, film.script, film.seed)
        self.easel = ThreadPoolExecutor(1)
        self._lock = threading.Lock()
        self._shots: dict[int, Future[Shot]] = {}
        self._begin(0)

    def frame(self, number: int) -> Planes:
        """Frame `number` as Y, U and V planes."""
        time = number / FRAME_RATE
        scene = self._scene_at(time)
        start = self.story.scenes[scene].start
        if scene and time < start + self.overlap / 2:
            share = 0.5 + (time - start) / self.overlap
            view = self._between(scene - 1, time, share)
        elif self._ending(scene, time):
            share = 0.5 - (self.story.scenes[scene].end - time) / self.overlap
            view = self._between(scene, time, share)
        else:
            view = self._view(scene, time)
        self.veil.put(view, number)  # below the words, which stay clear
        self.titles.put(view, time)
        self.captions.put(view, time)
        return view

    def frames(self) -> Iterator[Planes]:
        """All frames in order, made by a few threads a little ahead of the reader."""
        with ThreadPoolExecutor(_WORKERS) as pool, self.easel:
            waiting: deque[Future[Planes]] = deque()
            for number in range(self.count):
                waiting.append(pool.submit(self.frame, number))
                if len(waiting) >= _AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _scene_at(self, time: float) -> int:
        scenes = self.story.scenes
        return next((n for n, scene in enumerate(scenes) if time < scene.end), len(scenes) - 1)

    def _ending(self, scene: int, time: float) -> bool:
        last = scene + 1 >= len(self.story.scenes)
        return not last and time > self.story.scenes[scene].end - self.overlap / 2

    def _between(self, scene: int, time: float, share: float) -> Planes:
        before, after = self._view(scene, time), self._view(scene + 1, time)
        return transitions.between(self.film.transition, before, after, share)

    def _view(self, scene: int, time: float) -> Planes:
        told = self.story.scenes[scene]
        start, end = told.start - self.overlap / 2, told.end + self.overlap / 2
        return self._shot(scene).frame(min(1.0, max(0.0, (time - start) / (end - start))))

    def _shot(self, scene: int) -> Shot:
        """The scene's picture; the next one is drawn in the meantime, older ones are let go."""
        with self._lock:
            self._begin(scene)
            for number in [old for old in self._shots if old < scene - 1]:
                del self._shots[number]
            waiting = self._shots[scene]
        return waiting.result()

    def _begin(self, scene: int) -> None:
        for number in (scene, scene + 1):
            if number < len(self.story.scenes) and number not in self._shots:
                self._shots[number] = self.easel.submit(self._take, number)

    def _take(self, scene: int) -> Shot:
        told = self.story.scenes[scene]
        seed = self.film.seed * 1009 + scene
        large = tuple(round(side * MARGIN / 2) * 2 for side in self.size)
        picture = draw_scene(
            told.text,
            self.film.genre,
            seed,
            (large[0], large[1]),
            self.theme,
            margin=MARGIN,
            guest=self._guest(scene),
        )
        lasts = told.end - told.start + self.overlap
        return Shot(picture, self.size, seed, lasts, self.film.animation)

    def _guest(self, scene: int) -> CharacterDrawer | None:
        """The character; every third scene shows only where it plays."""
        return self.character if scene % 3 != 2 else None


def write_still(film: Film, path: Path, size: tuple[int, int], at: float) -> None:
    """Write the frame at `at` seconds as JPEG."""
    reel = Reel(film, size, path.parent)
    number = min(max(0, round(at * FRAME_RATE)), reel.count - 1)
    with reel.easel:
        frame = encode.frame(reel.frame(number), size, number)
    Image.fromarray(frame.to_ndarray(format="rgb24")).save(path, "JPEG", quality=88)


def write(film: Film, path: Path, size: tuple[int, int]) -> float:
    """Write the film's MP4 to `path`; returns its length in seconds."""
    reel = Reel(film, size, path.parent)
    return encode.write(path, size, reel.frames(), mix(film, reel.story))
