"""Sounds that mark what is seen: a whoosh or a soft hit where the picture changes, or typing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.music import SAMPLE_RATE
from proxyapi.sandbox.media.storyline import Storyline

Samples = NDArray[np.float32]

_LEVEL = 0.2  # of full scale, below the voice and above the music


def effects(film: Film, story: Storyline, count: int) -> Samples:
    """Stereo samples of shape (2, count) at 44.1 kHz; silence for a film without effects."""
    sound = np.zeros((2, count), np.float32)
    if film.sfx not in _MAKERS:
        return sound
    dice = random.Random(f"effects/{film.seed}")  # noqa: S311  # taste, not a secret
    for at in _moments(film, story):
        made = _MAKERS[film.sfx](dice)
        start = max(0, round(at * SAMPLE_RATE))
        reach = min(made.shape[1], count - start)
        if reach > 0:
            sound[:, start : start + reach] += made[:, :reach] * _LEVEL
    return sound


def _moments(film: Film, story: Storyline) -> Iterator[float]:
    """Seconds at which the effect is heard."""
    if film.sfx == "typing":
        for phrase in story.phrases:
            yield from (phrase.start + stroke * 0.09 for stroke in range(len(phrase.words) + 1))
        return
    lead = 0.22 if film.sfx == "whoosh" else 0.0  # it rises before the picture changes
    yield from (scene.start - lead for scene in story.scenes[1:])


def _whoosh(dice: random.Random) -> Samples:
    """Air that passes from one side to the other within half a second."""
    length = SAMPLE_RATE // 2
    share = np.linspace(0, 1, length, dtype=np.float32)
    noise = np.random.default_rng(dice.getrandbits(32)).normal(size=length)
    spectrum = np.fft.rfft(noise)
    hertz = np.fft.rfftfreq(length, 1 / SAMPLE_RATE)
    air = np.fft.irfft(spectrum / (1 + ((hertz - 900) / 700) ** 2), n=length)
    air *= np.sin(np.pi * share**0.8) ** 2 / max(float(np.abs(air).max()), 1e-6)
    side = share if dice.random() < 0.5 else 1 - share
    return np.stack([air * (1 - side * 0.7), air * (0.3 + side * 0.7)]).astype(np.float32)


def _soft_hit(dice: random.Random) -> Samples:
    """A low drum, struck with felt."""
    time = np.arange(SAMPLE_RATE // 2, dtype=np.float32) / SAMPLE_RATE
    fall = 46 + 44 * np.exp(-time * 18)
    tone = np.sin(2 * np.pi * np.cumsum(fall) / SAMPLE_RATE) * np.exp(-time * 8)
    tone *= np.minimum(1, time / 0.004) * dice.uniform(0.85, 1.0)
    return np.stack([tone, tone]).astype(np.float32)


def _key(dice: random.Random) -> Samples:
    """One key going down: a click and a little wood."""
    time = np.arange(SAMPLE_RATE // 22, dtype=np.float32) / SAMPLE_RATE
    click = np.random.default_rng(dice.getrandbits(32)).normal(size=len(time)) * np.exp(-time * 420)
    wood = np.sin(2 * np.pi * dice.uniform(320, 460) * time) * np.exp(-time * 130)
    stroke = (click * 0.35 + wood * 0.5) * dice.uniform(0.5, 0.8)
    side = dice.uniform(0.35, 0.65)
    return np.stack([stroke * (1 - side), stroke * side]).astype(np.float32)


_MAKERS: dict[str, Callable[[random.Random], Samples]] = {
    "whoosh": _whoosh,
    "soft-hits": _soft_hit,
    "typing": _key,
}
