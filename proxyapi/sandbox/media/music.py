"""Background music made from nothing: a chord loop with pad, bass and a plucked figure.

Key and progression follow the seed, tempo and timbre follow the genre. The loop is
circular: it can start again without a seam.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

SAMPLE_RATE = 44_100
_MAJOR, _MINOR = (0, 2, 4, 5, 7, 9, 11), (0, 2, 3, 5, 7, 8, 10)
_PROGRESSIONS = ((0, 4, 5, 3), (0, 5, 3, 4), (5, 3, 0, 4), (0, 2, 3, 4), (0, 3, 5, 4))
_FIGURES = ((0, 1, 2, 3, 2, 1, 2, 1), (0, 2, 1, 3, 2, 3, 1, 2), (2, 1, 0, 1, 3, 1, 2, 0))
_TAIL_SECONDS = 2.2


@dataclass(frozen=True, slots=True)
class Style:
    """Tempo in beats/min, loudness of each part from 0 to 1, overtones of the pluck."""

    minor: bool
    tempo: int
    pad: float
    pluck: float
    bass: float
    overtones: tuple[float, ...]
    decay: float


_STYLES = {
    "cinematic": Style(True, 72, 1.0, 0.45, 0.8, (1, 0.4, 0.16), 0.9),
    "watercolor": Style(False, 76, 0.7, 0.8, 0.4, (1, 0.12, 0.3), 1.1),
    "anime": Style(False, 96, 0.7, 0.8, 0.6, (1, 0.5, 0.25, 0.12), 0.5),
    "noir": Style(True, 66, 0.8, 0.5, 1.0, (1, 0.2, 0.4, 0.05), 1.2),
    "paper-cut": Style(False, 92, 0.5, 1.0, 0.5, (1, 0.05, 0.35, 0.02, 0.12), 0.35),
    "pixel-art": Style(False, 112, 0.3, 0.8, 0.7, (1, 0, 0.33, 0, 0.2, 0, 0.14), 0.22),
    "nature-documentary": Style(False, 70, 1.0, 0.5, 0.6, (1, 0.3, 0.1), 1.4),
    "synthwave": Style(True, 100, 0.8, 0.8, 1.0, (1, 0.5, 0.33, 0.25, 0.2), 0.3),
    "storybook": Style(False, 84, 0.4, 1.0, 0.4, (1, 0.02, 0.02, 0.3, 0.01, 0.1), 0.9),
    "blueprint": Style(True, 88, 0.8, 0.6, 0.6, (1, 0.1, 0.2), 0.4),
}


def compose(genre: str, seed: int, seconds: float) -> Samples:
    """Stereo music of shape (2, n) at SAMPLE_RATE with a peak of 1."""
    style = _STYLES.get(genre, _STYLES["cinematic"])
    dice = random.Random(f"music/{genre}/{seed}")  # noqa: S311  # taste, not a secret
    loop = _loop(style, dice)
    count = round(seconds * SAMPLE_RATE)
    start = dice.choice((0, 0, 1)) * (loop.shape[1] // 4)
    return np.take(loop, np.arange(start, start + count), axis=1, mode="wrap")


def _loop(style: Style, dice: random.Random) -> Samples:
    bar = round(4 * 60 / style.tempo * SAMPLE_RATE)
    scale = _MINOR if style.minor else _MAJOR
    root = 45 + dice.randrange(9)
    loop = np.zeros((2, 4 * bar), np.float32)
    figure = dice.choice(_FIGURES)
    for number, degree in enumerate(dice.choice(_PROGRESSIONS)):
        chord = [root + _step(scale, degree + third) for third in (0, 2, 4, 7)]
        _add_pad(loop, number * bar, bar, chord, style.pad * 0.16)
        _add(loop, number * bar, _bass(chord[0] - 12, bar) * style.bass * 0.34, 0.0)
        for beat, note in enumerate(figure):
            pitch = chord[note] + 12
            pluck = _pluck(pitch, style) * style.pluck * dice.uniform(0.16, 0.26)
            _add(loop, number * bar + beat * bar // 8, pluck, dice.uniform(-0.6, 0.6))
    wet = _in_a_hall(loop, dice.getrandbits(32))
    return (wet / max(float(np.abs(wet).max()), 1e-6)).astype(np.float32)


def _step(scale: tuple[int, ...], degree: int) -> int:
    return scale[degree % 7] + 12 * (degree // 7)


def _hertz(pitch: int) -> float:
    return 440.0 * float(2.0 ** ((pitch - 69) / 12))


def _add(loop: Samples, start: int, sound: Samples, side: float) -> None:
    """Mix into the loop; what runs over its end sounds at its beginning."""
    total = loop.shape[1]
    start %= total
    for channel, gain in ((0, 1 - max(0.0, side)), (1, 1 + min(0.0, side))):
        head = min(len(sound), total - start)
        loop[channel, start : start + head] += sound[:head] * gain
        loop[channel, : len(sound) - head] += sound[head:] * gain


def _add_pad(loop: Samples, start: int, bar: int, chord: list[int], gain: float) -> None:
    length = bar + bar // 3
    time = np.arange(length, dtype=np.float32) / SAMPLE_RATE
    swell = np.sin(np.linspace(0, np.pi, length, dtype=np.float32)).clip(0) ** 0.8
    for note in chord[:3]:
        for detune, side in ((-0.7, -0.8), (0.7, 0.8)):
            turn = 2 * np.pi * (_hertz(note) + detune) * time
            tone = np.sin(turn) + 0.35 * np.sin(2 * turn) + 0.12 * np.sin(3 * turn)
            _add(loop, start, (tone * swell * gain).astype(np.float32), side)


def _bass(pitch: int, length: int) -> Samples:
    time = np.arange(length, dtype=np.float32) / SAMPLE_RATE
    turn = 2 * np.pi * _hertz(pitch) * time
    fade = np.minimum(1, time / 0.03) * np.exp(-time * 0.7)
    fade *= np.minimum(1, (length / SAMPLE_RATE - time) / 0.05)
    tone = (np.sin(turn) + 0.3 * np.sin(2 * turn)) * fade
    return np.asarray(tone, np.float32)


def _pluck(pitch: int, style: Style) -> Samples:
    time = np.arange(round(_TAIL_SECONDS * SAMPLE_RATE * 0.6), dtype=np.float32) / SAMPLE_RATE
    sound = np.zeros_like(time)
    for number, level in enumerate(style.overtones, start=1):
        if level and _hertz(pitch) * number < 9_000:
            fade = np.exp(-time * (1 + number * 0.6) / style.decay)
            sound += level * np.sin(2 * np.pi * _hertz(pitch) * number * time) * fade
    return (sound * np.minimum(1, time / 0.006)).astype(np.float32)


def _in_a_hall(dry: Samples, seed: int) -> Samples:
    """Circular convolution with a decaying noise, so that the seam stays inaudible."""
    count = dry.shape[1]
    time = np.arange(round(_TAIL_SECONDS * SAMPLE_RATE), dtype=np.float32) / SAMPLE_RATE
    noise = np.random.default_rng(seed).normal(size=(2, len(time))).astype(np.float32)
    room = np.zeros((2, count), np.float32)
    reach = min(count, len(time))
    room[:, :reach] = (noise * np.exp(-time * 2.6) * np.minimum(1, time / 0.02))[:, :reach]
    spectrum = np.fft.rfft(room) / np.sqrt((room**2).sum(axis=1, keepdims=True))
    soft = 1 / (1 + (np.fft.rfftfreq(count, 1 / SAMPLE_RATE) / 2_800) ** 2)
    wet = np.fft.irfft(np.fft.rfft(dry) * spectrum * soft, n=count)
    return (dry + 0.5 * wet).astype(np.float32)
