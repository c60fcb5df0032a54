"""Text-to-video clips: the scene of a prompt, seen by a camera that travels through it.

`make_clip` writes H.264 with, where wished, the sound of the place as AAC; a clip without sound has
no audio stream. Without the media extra a plain film of the same length is written.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import films, plainclip

_MARGIN = 1.36  # the scene is drawn this much larger than the frame
# Words of a prompt that name a hand; without one the camera films as cinemas do.
_HANDS = {
    "watercolor": ("watercolor", "watercolour", "aquarelle"),
    "anime": ("anime", "manga", "ghibli"),
    "noir": ("noir", "monochrome", "black-and-white"),
    "paper-cut": ("paper", "papercut", "origami", "cutout"),
    "pixel-art": ("pixel", "8-bit", "retro"),
    "synthwave": ("synthwave", "neon", "vaporwave", "cyberpunk"),
    "storybook": ("storybook", "gouache", "illustration", "fairy", "fairytale"),
    "blueprint": ("blueprint", "schematic"),
    "nature-documentary": ("documentary", "wildlife", "nature"),
}
_CAMERA = re.compile(
    r"\b(?:the |a )?camera (?:track|follow|ris|mov|pan|tilt|zoom|orbit|push|pull|glid|circl|fl[iy]"
    r"|doll|drift|work|angle|turn|sweep)\w*[^,;.]*"
    r"|\b(?:a )?slow (?:orbit|push in|pull back|pan|zoom)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clip:
    """`resolution` is such as 720p or 768P: the shorter side; an `auto` ratio is 16:9. `first`
    and `last` are references to pictures that it begins and ends with."""

    prompt: str
    seconds: float
    aspect_ratio: str = "16:9"
    resolution: str | None = "720p"
    audio: bool = False
    seed: int = 0
    first: dict[str, Any] | None = None
    last: dict[str, Any] | None = None


def make_clip(clip: Clip, path: Path) -> float:
    """Write the clip as MP4, at once or not at all; returns its length in seconds."""
    with films.write_atomically(path) as partial:
        try:
            from proxyapi.sandbox.media import ambience, encode
        except ImportError:
            return write_plain(clip, partial)
        size = frame_size(clip)
        genre = genre_of_prompt(clip.prompt)
        sound = (
            ambience.render_ambience(clip.prompt, genre, clip.seed, clip.seconds)
            if clip.audio
            else None
        )
        told = clip.first or clip.last
        frames = _framed(clip, size, path.parent) if told else _frames(clip, genre, size)
        return encode.write(partial, size, frames, sound)


def make_described(wanted: dict[str, Any], path: Path) -> float:
    return make_clip(Clip(**wanted), path)


def write_plain(clip: Clip, path: Path) -> float:
    """A silent film of the same length and shape, by the standard library alone."""
    plain = films.Film(
        script="", aspect_ratio=clip.aspect_ratio, seed=clip.seed, seconds=clip.seconds
    )
    return plainclip.write_plain_film(plain, path)


def frame_size(clip: Clip) -> tuple[int, int]:
    """Width and height in pixels."""
    return films.frame_size(clip.aspect_ratio, films.height(clip.resolution or ""))


def genre_of_prompt(prompt: str) -> str:
    """The genre whose hand paints the clip."""
    words = set(re.findall(r"[\w-]+", prompt.lower()))
    return next((genre for genre, said in _HANDS.items() if words & set(said)), "cinematic")


def without_camera_words(prompt: str) -> str:
    """The prompt without what it says about the camera, which is not to be seen."""
    return _CAMERA.sub(" ", prompt)


def _framed(clip: Clip, size: tuple[int, int], folder: Path) -> Iterator[Any]:
    """A clip that begins or ends with a picture: the only scene of a storyboard."""
    from proxyapi.sandbox.media.board_reel import BoardReel
    from proxyapi.sandbox.media.storyboard import Storyboard

    scene = {name: getattr(clip, name) for name in ("prompt", "seconds", "seed", "first", "last")}
    return BoardReel(Storyboard([{**scene, "chained": False}]), size, folder).frames()


def _frames(clip: Clip, genre: str, size: tuple[int, int]) -> Iterator[Any]:
    from concurrent.futures import ThreadPoolExecutor

    from proxyapi.sandbox.media import scenes
    from proxyapi.sandbox.media.camera import Move, Shot
    from proxyapi.sandbox.media.encode import FRAME_RATE
    from proxyapi.sandbox.media.text_analysis import read_theme

    travels = (
        Move((1.32, 1.06), across=(-0.5, 0.5)),
        Move((1.06, 1.3), across=(0.5, -0.5)),
        Move((1.14, 1.22), across=(-0.7, 0.6)),
        Move((1.3, 1.08), down=(0.3, -0.2)),
    )
    large = (round(size[0] * _MARGIN / 2) * 2, round(size[1] * _MARGIN / 2) * 2)
    seen = without_camera_words(clip.prompt)
    about = replace(read_theme("", seen, clip.seed), subject="")  # what is named first, wins
    picture = scenes.draw_scene(seen, genre, clip.seed, large, about, margin=_MARGIN)
    shot = Shot(picture, size, clip.seed, clip.seconds)
    shot.move = random.Random(f"clip/{clip.seed}").choice(travels)  # noqa: S311  # a view
    count = max(1, round(clip.seconds * FRAME_RATE))
    shares = (number / max(1, count - 1) for number in range(count))
    with ThreadPoolExecutor(2) as pool:
        waiting = [
            pool.submit(shot.frame, share) for _, share in zip(range(6), shares, strict=False)
        ]
        while waiting:
            yield waiting.pop(0).result()
            following = next(shares, None)
            if following is not None:
                waiting.append(pool.submit(shot.frame, following))
