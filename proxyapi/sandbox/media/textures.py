"""Seeded noise, made once per size: smooth clouds, fine grain, fibres of paper."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Field = NDArray[np.float32]


@functools.lru_cache(maxsize=24)
def clouds(width: int, height: int, seed: int, cells: int = 5, octaves: int = 4) -> Field:
    """Fractal noise between 0 and 1; `cells` lumps across the shorter side."""
    dice = np.random.default_rng(seed)
    short = min(width, height)
    total = np.zeros((height, width), np.float32)
    for octave in range(octaves):
        lumps = cells * 2**octave
        across = max(2, round(lumps * width / short) + 1)
        down = max(2, round(lumps * height / short) + 1)
        coarse = Image.fromarray(dice.random((down, across), dtype=np.float32))
        total += np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)) / 2**octave
    low, high = float(total.min()), float(total.max())
    return (total - low) / np.float32(max(high - low, 1e-6))


@functools.lru_cache(maxsize=8)
def grain(width: int, height: int, seed: int = 7) -> Field:
    """Fine noise around 0 with a spread of 1, slightly softened so that it encodes well."""
    noise = np.random.default_rng(seed).normal(size=(height, width)).astype(np.float32)
    soft = (
        noise + np.roll(noise, 1, 0) + np.roll(noise, 1, 1) + np.roll(noise, (1, 1), (0, 1))
    ) / 2
    return soft.astype(np.float32)


@functools.lru_cache(maxsize=8)
def paper(width: int, height: int, seed: int = 11) -> Field:
    """The lit surface of rough paper around 0: lumps and fibres seen from the upper left."""
    relief = clouds(width, height, seed, 60, 2) + 0.5 * grain(width, height, seed) * 0.15
    lit = relief - np.roll(relief, (2, 2), (0, 1))
    return (lit / max(float(lit.std()), 1e-6)).astype(np.float32)


@functools.lru_cache(maxsize=8)
def vignette(width: int, height: int) -> Field:
    """1 in the middle, falling to 0 in the corners."""
    down = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    across = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    return np.asarray(np.clip(1.15 - (across**2 + down**2) * 0.5, 0, 1), np.float32)
