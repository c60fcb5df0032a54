"""Small things that move through a picture: snow, rain, dust, sparks, bubbles, fireflies."""

from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass

import numpy as np
from PIL import Image

from proxyapi.sandbox.media.planes import Planes

_PHASES = 4  # sprites are drawn at quarters of a pixel, so that slow ones do not jump


@dataclass(frozen=True, slots=True)
class ParticleKind:
    """How many, drift in heights/s, radius in shares of the short side, sway, blink."""

    count: int
    drift: tuple[float, float]
    radius: tuple[float, float]
    sway: float = 0.0
    blink: float = 0.0
    strength: float = 0.8
    slanted: bool = False
    luma: int = 235
    upper_only: bool = False


PARTICLE_KINDS = {
    "": ParticleKind(0, (0, 0), (0.001, 0.001)),
    "dust": ParticleKind(26, (0.012, -0.014), (0.0016, 0.005), 0.01, 0.6, 0.4),
    "snow": ParticleKind(80, (-0.03, 0.14), (0.002, 0.007), 0.02, 0.0, 0.85),
    "rain": ParticleKind(70, (-0.16, 1.5), (0.016, 0.034), 0.0, 0.0, 0.3, slanted=True),
    "sparks": ParticleKind(34, (0.03, -0.14), (0.0016, 0.004), 0.02, 0.8, 0.9),
    "bubbles": ParticleKind(30, (0.0, -0.09), (0.003, 0.009), 0.012, 0.0, 0.35),
    "fireflies": ParticleKind(26, (0.012, -0.012), (0.003, 0.0055), 0.03, 1.0, 0.95),
    "stars": ParticleKind(44, (0.0, 0.0), (0.0014, 0.003), 0.0, 1.0, 0.9, upper_only=True),
    "petals": ParticleKind(26, (0.06, 0.07), (0.003, 0.007), 0.04, 0.0, 0.8),
}


class Particles:
    """All motes of one shot; their places follow from seed and time alone."""

    def __init__(self, kind: str, size: tuple[int, int], seed: int) -> None:
        self.kind = PARTICLE_KINDS.get(kind, PARTICLE_KINDS[""])
        self.width, self.height = size
        self.short = min(size)
        dice = random.Random(f"motes/{kind}/{seed}")  # noqa: S311  # places, not secrets
        self.each = [tuple(dice.random() for _ in range(5)) for _ in range(self.kind.count)]

    def put(self, target: Planes, time: float) -> None:
        """Lighten the frame where motes are at `time` seconds."""
        kind = self.kind
        for x, y, depth, phase, pace in self.each:
            speed = 0.5 + depth * 0.8
            sway = kind.sway * math.sin(time * (0.6 + pace) * 2 + phase * 6.3)
            across = x * self.width + (kind.drift[0] * time * speed + sway) * self.short
            down = y * self.height + kind.drift[1] * time * speed * self.short
            if kind.upper_only:
                down = y * self.height * 0.42
            blink = 1 - kind.blink * (0.5 + 0.5 * math.sin(time * (1 + 2 * pace) + phase * 6.3))
            radius = _between(kind.radius, depth) * self.short
            self._dot(target, across, down, radius, kind.strength * blink)

    def _dot(self, target: Planes, x: float, y: float, radius: float, strength: float) -> None:
        level = int(strength * 8)
        if level <= 0:
            return
        room = radius * 2 + 2
        x = x % (self.width + 2 * room) - room
        y = y % (self.height + 2 * room) - room
        phase_x, phase_y = int(x % 1 * _PHASES), int(y % 1 * _PHASES)
        shape = _streak if self.kind.slanted else _spot
        sprite = shape(round(radius * 2) / 2, phase_x, phase_y, level)
        corner = (math.floor(x) - sprite.width // 2, math.floor(y) - sprite.height // 2)
        target[0].paste(self.kind.luma, corner, sprite)


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share


@functools.lru_cache(maxsize=4096)
def _spot(radius: float, phase_x: int, phase_y: int, level: int) -> Image.Image:
    reach = math.ceil(radius * 1.6) + 1
    grid = np.arange(-reach, reach + 1, dtype=np.float32)
    across, down = grid - phase_x / _PHASES, grid - phase_y / _PHASES
    away = np.sqrt(across[None, :] ** 2 + down[:, None] ** 2) / max(radius, 0.7)
    light = np.clip(1.6 - away, 0, 1) ** 1.5 * 255 * level / 8
    return Image.fromarray(light.clip(0, 255).astype(np.uint8))


@functools.lru_cache(maxsize=512)
def _streak(radius: float, phase_x: int, phase_y: int, level: int) -> Image.Image:
    reach = math.ceil(radius)
    rows = np.arange(-reach, reach + 1, dtype=np.float32)[:, None]
    columns = np.arange(-5, 6, dtype=np.float32)[None, :]
    away = np.abs(columns - phase_x / _PHASES + rows * 0.11)
    light = np.clip(1.3 - away, 0, 1) * np.clip(1 - np.abs(rows) / reach, 0, 1)
    return Image.fromarray((light * 255 * level / 8).clip(0, 255).astype(np.uint8))
