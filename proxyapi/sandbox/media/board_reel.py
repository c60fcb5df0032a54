"""The frames and the sound of a storyboard."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from proxyapi.sandbox.media import ambience, clips, photo_effects, references, transitions
from proxyapi.sandbox.media.camera import Move, Shot
from proxyapi.sandbox.media.encode import FRAME_RATE
from proxyapi.sandbox.media.music import SAMPLE_RATE, Samples, compose
from proxyapi.sandbox.media.planes import Planes
from proxyapi.sandbox.media.scenes import Picture, draw_scene
from proxyapi.sandbox.media.storyboard import Storyboard
from proxyapi.sandbox.media.text_analysis import SceneReading, read_theme

_MARGIN = 1.26
_MELT = 1.1  # seconds in which a chained scene comes out of the one before
_FRAME_SHOWN = 1.2  # seconds for which an assigned frame is seen before it melts
_WORKERS, _AHEAD = 2, 6
_MUSIC, _PLACE = 0.26, 0.55
_EDGE = 0.15  # seconds over which sounds of two scenes are crossed
# Travels that fit the shot that a prompt names; the others go by the seed.
_NAMED = (
    (("push in", "close-up", "zoom in"), Move((1.24, 1.04), across=(-0.3, 0.3))),
    (("pull back", "closing shot", "zoom out"), Move((1.04, 1.24), across=(0.3, -0.3))),
    (("rises", "low angle", "tilt"), Move((1.16, 1.1), down=(0.6, -0.9))),
    (("aerial", "orbit"), Move((1.08, 1.2), across=(-0.9, 0.9))),
    (("tracks", "follows", "pan"), Move((1.12, 1.14), across=(0.95, -0.95))),
)


class BoardReel:
    def __init__(self, board: Storyboard, size: tuple[int, int], media_dir: Path) -> None:
        self.board, self.size = board, size
        self._media_dir = media_dir
        ends = list(itertools.accumulate(round(it["seconds"] * FRAME_RATE) for it in board.scenes))
        self.spans = list(itertools.pairwise([0, *ends]))
        self.genre = clips.genre_of_prompt(" ".join(it["prompt"] for it in board.scenes))
        self.readings = list(self._readings())
        self.moves = list(self._moves())

    def frames(self) -> Iterator[Planes]:
        """All frames in order; each scene is drawn while the one before it is shown."""
        with ThreadPoolExecutor(1) as easel, ThreadPoolExecutor(_WORKERS) as pool:
            coming = easel.submit(self._shot, 0)
            before: Shot | None = None
            for place, (start, end) in enumerate(self.spans):
                shot = coming.result()
                if place + 1 < len(self.spans):
                    coming = easel.submit(self._shot, place + 1)
                held = before if self.board.scenes[place]["chained"] else None
                framed = self._framed(place)
                waiting: deque[Future[Planes]] = deque()
                for number in range(end - start):
                    waiting.append(pool.submit(self._frame, place, number, shot, held, framed))
                    if len(waiting) >= _AHEAD:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
                before = shot

    def sound(self) -> Samples:
        """What each place sounds like, and one piece of music below all of it."""
        edge = round(_EDGE * SAMPLE_RATE)
        count = round(self.spans[-1][1] / FRAME_RATE * SAMPLE_RATE)
        total = compose(self.genre, self.board.seed, self.board.seconds)[:, :count] * _MUSIC
        total[:, :edge] *= np.linspace(0.2, 1, edge, dtype=np.float32)
        for scene, (start, end) in zip(self.board.scenes, self.spans, strict=True):
            seconds = (end - start) / FRAME_RATE
            heard = (
                ambience.render_place_sound(
                    clips.without_camera_words(scene["prompt"]), scene["seed"], seconds
                )
                * _PLACE
            )
            heard[:, :edge] *= np.linspace(0, 1, edge, dtype=np.float32)
            heard[:, -edge:] *= np.linspace(1, 0, edge, dtype=np.float32)
            at = round(start / FRAME_RATE * SAMPLE_RATE)
            total[:, at : at + heard.shape[1]] += heard[:, : count - at]
        loudest = float(np.abs(total).max(initial=0.0))
        return np.asarray(total * min(1.0, 0.85 / max(loudest, 1e-6)), np.float32)

    def _readings(self) -> Iterator[tuple[SceneReading, int]]:
        """What each scene is about, and its seed; a chain keeps those of its first scene.

        A scene that names no place plays where the others do.
        """
        about, seed = read_theme("", "", 0), 0
        told = " ".join(clips.without_camera_words(it["prompt"]) for it in self.board.scenes)
        usual = read_theme("", told, self.board.seed).setting
        for scene in self.board.scenes:
            if not scene["chained"]:
                seed = scene["seed"]
                about = read_theme("", clips.without_camera_words(scene["prompt"]), seed)
                about = replace(about, subject="", setting=usual)
            yield about, seed

    def _moves(self) -> Iterator[Move]:
        """A chain is one travel, shared out among its scenes."""
        scenes = self.board.scenes
        starts = [place for place, it in enumerate(scenes) if not it["chained"] or not place]
        for start, end in itertools.pairwise([*starts, len(scenes)]):
            whole = _named(scenes[start]["prompt"], scenes[start]["seed"])
            parts = end - start
            if parts > 1:
                whole = Move((1.22, 1.05), across=(-0.95, 0.95))
            for part in range(parts):
                yield _share(whole, part / parts, (part + 1) / parts)

    def _shot(self, place: int) -> Shot:
        scene, (about, seed) = self.board.scenes[place], self.readings[place]
        width, height = (round(side * _MARGIN / 2) * 2 for side in self.size)
        seen = clips.without_camera_words(scene["prompt"])
        picture = draw_scene(seen, self.genre, seed, (width, height), about, margin=_MARGIN)
        return self._on_its_way(picture, place, seed)

    def _on_its_way(self, picture: Picture, place: int, seed: int) -> Shot:
        shot = Shot(picture, self.size, seed, self.board.scenes[place]["seconds"])
        shot.move = self.moves[place]
        return shot

    def _framed(self, place: int) -> dict[str, Shot]:
        """The assigned first and last frames, as far as they can be seen."""
        scene, found = self.board.scenes[place], {}
        width, height = (round(side * _MARGIN / 2) * 2 for side in self.size)
        for name in ("first", "last"):
            shown = references.open_reference(scene[name], self._media_dir, (width, height))
            if shown is not None:
                picture = photo_effects.crop_to_cover(shown, (width, height))
                found[name] = self._on_its_way(picture, place, scene["seed"])
        return found

    def _frame(
        self, place: int, number: int, shot: Shot, held: Shot | None, framed: dict[str, Shot]
    ) -> Planes:
        start, end = self.spans[place]
        count = end - start
        share, time = number / max(1, count - 1), number / FRAME_RATE
        view = shot.frame(share)
        if "first" in framed and time < _FRAME_SHOWN + _MELT:
            view = _melted(framed["first"].frame(share), view, (time - _FRAME_SHOWN) / _MELT)
        elif held is not None and time < _MELT:
            view = _melted(held.frame(1.0), view, time / _MELT)
        left = (count - number) / FRAME_RATE
        if "last" in framed and left < _FRAME_SHOWN + _MELT:
            view = _melted(view, framed["last"].frame(share), 1 - (left - _FRAME_SHOWN) / _MELT)
        return view


def _named(prompt: str, seed: int) -> Move:
    words = prompt.lower()
    for names, move in _NAMED:
        if any(name in words for name in names):
            return move
    return _NAMED[seed % len(_NAMED)][1]


def _share(move: Move, start: float, end: float) -> Move:
    def part(ends: tuple[float, float]) -> tuple[float, float]:
        return tuple(ends[0] + (ends[1] - ends[0]) * at for at in (start, end))  # type: ignore[return-value]

    return Move(part(move.scale), across=part(move.across), down=part(move.down))


def _melted(before: Planes, after: Planes, share: float) -> Planes:
    return transitions.between("fade", before, after, min(1.0, max(0.0, share)))
