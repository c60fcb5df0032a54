"""Candidates for a character: a bust in a genre's hand, in the colours of the uploaded photo.

`make_portrait` writes a PNG and needs the media extra; `write_plain` writes a small one by the
standard library alone. Same portrait, same picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import films, stills

_SIDE = 640  # pixels
_DRAWN = 960  # drawn larger, so that the hand of the genre is fine


@dataclass(frozen=True, slots=True)
class Portrait:
    """`photo` is the file name of the uploaded image, in the folder of the portrait."""

    genre: str = "cinematic"
    seed: int = 0
    photo: str = ""


def make_portrait(portrait: Portrait, path: Path) -> None:
    """Write the portrait, at once or not at all."""
    with films.write_atomically(path) as unfinished:
        try:
            drawn = picture(portrait, path.parent)
        except ImportError:
            write_plain(portrait, unfinished)
            return
        drawn.save(unfinished, "PNG")


def picture(portrait: Portrait, folder: Path) -> Any:
    """The portrait as a PIL image."""
    from PIL import Image

    from proxyapi.sandbox.media import complexions, faces, genre_finishes

    colours = complexions.complexion_of_photo(
        folder / portrait.photo, portrait.genre, portrait.seed
    )
    drawn = faces.draw_portrait(colours, portrait.genre, portrait.seed, _DRAWN)
    finished = genre_finishes.apply_genre_finish(drawn, portrait.genre, portrait.seed)
    return finished.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS)


def character_drawer(wanted: dict[str, Any], folder: Path) -> Callable[[Any, bool], None]:
    """Who sat for a portrait, to be drawn into scenes, as `scenes.draw` takes it."""
    from proxyapi.sandbox.media import complexions, faces

    sat = Portrait(**wanted)
    colours = complexions.complexion_of_photo(folder / sat.photo, sat.genre, sat.seed)
    return partial(faces.draw_in_scene, colours=colours, seed=sat.seed)


def make_described(wanted: dict[str, Any], path: Path) -> None:
    make_portrait(Portrait(**wanted), path)


def write_plain(portrait: Portrait, path: Path) -> None:
    """A square of two colours."""
    stills.write_plain({"aspect_ratio": "1:1", "seed": portrait.seed}, path)
