"""A cloned voice says a few words: its preview, as a WAV file of one channel.

Without the media extra a hummed melody stands in for it, at the voice's pitch.
"""

from __future__ import annotations

import array
import math
import random
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import films

_RATE = 22_050
_SENTENCES = (
    "Hello, this is {name}.",
    "From now on I can tell your stories, in a voice that people will know again.",
    "Write a script, choose me, and I will read it to you.",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """`seed` decides on the voice, as it does for the narration of a film."""

    name: str
    gender: str = "female"
    language: str = "en"
    seed: int = 0


def make_sample(sample: Sample, path: Path) -> float:
    """Write the preview, at once or not at all; returns its length in seconds."""
    with films.write_atomically(path) as partial:
        try:
            from proxyapi.sandbox.media import speech
        except ImportError:
            return write_plain(sample, partial)
        speaker = speech.voice(sample.language, sample.gender, sample.seed)
        said = speech.speak([it.format(name=sample.name) for it in _SENTENCES], speaker)
        pause = array.array("h", bytes(2 * round(_RATE * 0.28)))
        sound = pause[:2_000]
        loudest = max((float(abs(it.samples).max(initial=0.0)) for it in said), default=0) or 1
        for utterance in said:
            sound += array.array(
                "h", (utterance.samples / loudest * 26_000).astype("<i2").tobytes()
            )
            sound += pause
        return _write(sound[: -len(pause) + 3_000], partial)


def make_described(wanted: dict[str, Any], path: Path) -> float:
    return make_sample(Sample(**wanted), path)


def write_plain(sample: Sample, path: Path) -> float:
    """Three hummed seconds, by the standard library alone."""
    dice = random.Random(f"hum/{sample.seed}")  # noqa: S311  # a voice, not a secret
    root = dice.uniform(170, 230) if sample.gender.startswith("f") else dice.uniform(95, 135)
    steps = [dice.choice((1, 9 / 8, 5 / 4, 4 / 3, 3 / 2)) for _ in range(6)]
    sound = array.array("h")
    for step in steps:
        length = _RATE // 2
        for n in range(length):
            turn = 2 * math.pi * root * step * n / _RATE
            level = math.sin(math.pi * n / length) ** 0.5 * 9_000
            tone = math.sin(turn) + 0.5 * math.sin(2 * turn) + 0.2 * math.sin(3 * turn)
            sound.append(round(level * tone))
    return _write(sound, path)


def _write(sound: array.array[int], path: Path) -> float:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(sound.tobytes())
    return len(sound) / _RATE
