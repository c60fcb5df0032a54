"""The sound of a place, made from filtered noise and a few tones, with soft music below it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from proxyapi.sandbox.media.music import SAMPLE_RATE, compose
from proxyapi.sandbox.media.text_analysis import read_scene, read_theme

Samples = NDArray[np.float32]

_PEAK, _MUSIC = 0.7, 0.32


def render_ambience(prompt: str, genre: str, seed: int, seconds: float) -> Samples:
    """Stereo samples of shape (2, n) at 44.1 kHz: what is heard where the prompt is."""
    count = round(seconds * SAMPLE_RATE)
    sound = (
        render_place_sound(prompt, seed, seconds)
        + compose(genre, seed, seconds)[:, :count] * _MUSIC
    )
    return (_levelled(sound) * _PEAK * _ends(count)).astype(np.float32)


def render_place_sound(prompt: str, seed: int, seconds: float) -> Samples:
    """The same without music, with a peak of 1."""
    count = round(seconds * SAMPLE_RATE)
    where = read_scene(prompt, seed, replace(read_theme("", prompt, seed), subject=""))
    dice = random.Random(f"ambience/{seed}")  # noqa: S311  # taste, not a secret
    heard = _PLACES.get(where.setting, _wind)(count, dice)
    if where.weather == "rain":
        heard = heard * 0.5 + _rain(count, dice)
    return _levelled(heard)


def _wind(count: int, dice: random.Random) -> Samples:
    return np.asarray(_noise(count, dice, 80, 700) * _gusts(count, dice, 0.25), np.float32)


def _sea(count: int, dice: random.Random) -> Samples:
    """Waves that come in every few seconds, their foam brighter than their weight."""
    swell = _gusts(count, dice, 0.16) ** 2
    foam = _noise(count, dice, 1_200, 6_000) * np.roll(swell, SAMPLE_RATE // 3, axis=-1) * 0.5
    return np.asarray(_noise(count, dice, 60, 900) * (0.25 + swell) + foam, np.float32)


def _rain(count: int, dice: random.Random) -> Samples:
    drops = _noise(count, dice, 1_500, 9_000) * 0.5
    return drops + _noise(count, dice, 300, 1_500) * 0.3


def _woods(count: int, dice: random.Random) -> Samples:
    """Leaves, and a bird now and then."""
    sound = _noise(count, dice, 500, 3_500) * _gusts(count, dice, 0.3) * 0.4
    for _ in range(max(2, round(count / SAMPLE_RATE * 0.9))):
        song = _song(dice)
        start = dice.randrange(max(1, count - len(song)))
        reach = min(len(song), count - start)
        side = dice.uniform(0.2, 0.8)
        sound[:, start : start + reach] += song[:reach] * np.array([[1 - side], [side]]) * 0.6
    return sound


def _song(dice: random.Random) -> Samples:
    pitch, parts = dice.uniform(2_200, 4_200), []
    for _ in range(dice.randint(2, 5)):
        length = round(dice.uniform(0.05, 0.16) * SAMPLE_RATE)
        share = np.linspace(0, 1, length)
        bend = pitch * (1 + dice.uniform(-0.18, 0.3) * share)
        parts += [np.sin(2 * np.pi * np.cumsum(bend) / SAMPLE_RATE) * np.sin(np.pi * share) ** 2]
        parts += [np.zeros(round(dice.uniform(0.03, 0.12) * SAMPLE_RATE))]
    return np.concatenate(parts).astype(np.float32)


def _city(count: int, dice: random.Random) -> Samples:
    """A far hum, and cars that pass from one side to the other."""
    sound = _noise(count, dice, 50, 320)
    time = np.arange(count) / SAMPLE_RATE
    for _ in range(max(1, count // SAMPLE_RATE // 3)):
        middle, way = dice.uniform(0, count / SAMPLE_RATE), dice.choice((-1, 1))
        near = 1 / (1 + ((time - middle) * 1.6) ** 2)
        side = 0.5 + 0.5 * np.tanh((time - middle) * way)
        sound += _noise(count, dice, 150, 1_400) * near * np.stack([1 - side, side]) * 0.9
    return sound.astype(np.float32)


def _deep(count: int, dice: random.Random) -> Samples:
    """A slow drone, as one imagines the deep and the void."""
    time = np.arange(count) / SAMPLE_RATE
    root = dice.uniform(48, 62)
    tones = sum(
        np.sin(2 * np.pi * root * part * time + dice.uniform(0, 6)) / part
        for part in (1, 1.5, 2, 3)
    )
    return (tones * 0.3 * _gusts(count, dice, 0.12) + _noise(count, dice, 40, 240) * 0.5).astype(
        np.float32
    )


def _room(count: int, dice: random.Random) -> Samples:
    """Stillness, and a clock."""
    sound = _noise(count, dice, 60, 400) * 0.3
    tick = np.exp(-np.arange(1_600) / 130) * np.sin(np.arange(1_600) * dice.uniform(0.25, 0.4))
    for number, start in enumerate(range(SAMPLE_RATE // 4, count - 1_600, SAMPLE_RATE)):
        sound[:, start : start + 1_600] += (tick * (0.5 if number % 2 else 0.36)).astype(np.float32)
    return sound


_PLACES: dict[str, Callable[[int, random.Random], Samples]] = {
    "sea": _sea,
    "forest": _woods,
    "hills": _woods,
    "city": _city,
    "underwater": _deep,
    "space": _deep,
    "moon": _deep,
    "room": _room,
    "shapes": _deep,
}


def _noise(count: int, dice: random.Random, low: float, high: float) -> Samples:
    """Stereo noise between two frequencies, its loudest sample about 1."""
    grains = np.random.default_rng(dice.getrandbits(32)).normal(size=(2, count))
    spectrum = np.fft.rfft(grains)
    hertz = np.fft.rfftfreq(count, 1 / SAMPLE_RATE)
    shape = 1 / np.sqrt(1 + (hertz / high) ** 4) * (1 - 1 / (1 + (hertz / low) ** 2))
    return _levelled(np.fft.irfft(spectrum * shape, n=count))


def _gusts(count: int, dice: random.Random, pace: float) -> Samples:
    """A slow rise and fall between about 0.2 and 1."""
    time = np.arange(count) / SAMPLE_RATE
    waves = [
        np.sin(2 * np.pi * pace * rate * time + dice.uniform(0, 6.28)) for rate in (1, 1.7, 0.6)
    ]
    return np.asarray(0.6 + 0.4 * np.mean(waves, axis=0), np.float32)


def _levelled(sound: NDArray[np.floating]) -> Samples:
    return (sound / max(float(np.abs(sound).max(initial=0.0)), 1e-6)).astype(np.float32)


def _ends(count: int) -> Samples:
    """Short ramps, so that nothing clicks, and never silence at an end."""
    ramp = min(count // 2, SAMPLE_RATE // 12)
    ends = np.ones(count, np.float32)
    ends[:ramp] = np.linspace(0, 1, ramp)
    ends[count - ramp :] = np.linspace(1, 0, ramp)
    return ends
