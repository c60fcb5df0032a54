"""The frames of a cut: a film's reel that takes its pictures where the manner says."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import photo_effects, references
from proxyapi.sandbox.media.camera import MARGIN, Move, Shot
from proxyapi.sandbox.media.cut import Cut
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.palettes import palette, parse_colour
from proxyapi.sandbox.media.planes import Planes
from proxyapi.sandbox.media.reel import Reel
from proxyapi.sandbox.media.scenes import Picture, draw_scene
from proxyapi.sandbox.media.titles import Titles

_TRAVEL = 1.28  # travelling shots are drawn this much larger than the frame
_TRAVELS = (
    Move((1.26, 1.04), across=(-0.6, 0.6)),
    Move((1.04, 1.26), across=(0.6, -0.6)),
    Move((1.12, 1.18), across=(-0.97, 0.97)),
    Move((1.18, 1.12), across=(0.97, -0.97)),
    Move((1.24, 1.05), down=(0.5, -0.4)),
)
_WIDE = 2.2  # width by height of letterboxed footage


class CutReel(Reel):
    def __init__(self, cut: Cut, size: tuple[int, int], media_dir: Path) -> None:
        self.cut = cut
        self._media_dir = media_dir
        self._margin = _TRAVEL if cut.manner == "clips" else MARGIN
        super().__init__(cut.film, size, media_dir)  # which begins with the first picture
        if cut.manner == "footage":
            self.titles = _Letterboxed(cut.film, size)

    def _take(self, scene: int) -> Shot:
        told = self.story.scenes[scene]
        lasts = told.end - told.start + self.overlap
        manner = self.cut.manner
        width, height = (round(side * self._margin / 2) * 2 for side in self.size)
        seed = self.film.seed * 1009 + scene
        picture = self._picture(scene, seed, (width, height))
        shot = Shot(picture, self.size, seed, lasts, self.film.animation)
        if manner == "clips" and not self.film.animation:
            shot.move = random.Random(f"travel/{seed}").choice(_TRAVELS)  # noqa: S311  # a view
        return shot

    def _picture(self, scene: int, seed: int, size: tuple[int, int]) -> Picture:
        asset = self._asset(scene)
        if asset is not None:
            outside = self._outside(asset, size)
            if outside is not None:
                return outside
            if asset["roll"]:
                seed = asset["seed"] * 31 + scene
        drawn = draw_scene(
            self.story.scenes[scene].text,
            self.film.genre,
            seed,
            size,
            self.theme,
            margin=self._margin,
            guest=self._guest(scene),
        )
        if self.cut.manner != "footage":
            return drawn
        image, behind = (photo_effects.grade_as_photo(it) for it in (drawn.image, drawn.behind))
        return Picture(image, behind, drawn.near, drawn.motes)

    def _asset(self, scene: int) -> dict[str, Any] | None:
        """The assets share the film in their order; few pictures of a page come again.

        Those that somebody chose have a scene each, however few there are; clips and footage
        are made for all others.
        """
        assets, scenes = self.cut.pictures, len(self.story.scenes)
        if not assets:
            return None
        if self.cut.manner == "page":
            return assets[scene % len(assets)]
        chosen = {
            scenes * (2 * n + 1) // (2 * len(assets)): it
            for n, it in enumerate(assets)
            if it["roll"] or "file" in it or "still" in it
        }
        shared = assets[scene * len(assets) // scenes] if self.cut.manner == "scenes" else None
        return chosen.get(scene, shared)

    def _outside(self, asset: dict[str, Any], size: tuple[int, int]) -> Picture | None:
        """The asset's own picture; None for one that is drawn with its scene."""
        short = min(size) * 3 // 4 // 8 * 8
        upright = size[1] > size[0]
        shape = (short, short // 4 * 5) if upright else (short // 2 * 3, short)
        shown = references.open_reference(asset, self._media_dir, shape)
        if shown is None:
            return None
        if self.cut.manner != "page":
            return photo_effects.crop_to_cover(shown, size)
        own = self.cut.colour
        colour = parse_colour(own) if own else palette(self.film.genre, "dusk").far
        return photo_effects.place_on_card(shown, size, colour)


class _Letterboxed(Titles):
    def __init__(self, film: Film, size: tuple[int, int]) -> None:
        super().__init__(film, size)
        width, height = size
        bar = (height - width / _WIDE) / 2 if width > height else height * 0.05
        self.bar = max(2, round(bar / 4) * 4)

    def put(self, target: Planes, time: float) -> None:
        photo_effects.letterbox(target, self.bar)
        super().put(target, time)
