"""Smooth lines through given points."""

from __future__ import annotations

from collections.abc import Sequence

Point = tuple[float, float]


def smooth(points: Sequence[Point], *, closed: bool = False, steps: int = 10) -> list[Point]:
    """A Catmull-Rom curve through the points."""
    if len(points) < 3:
        return list(points)
    ring = (
        [points[-1], *points, points[0], points[1]] if closed else [points[0], *points, points[-1]]
    )
    bent: list[Point] = []
    for a, b, c, d in zip(ring, ring[1:], ring[2:], ring[3:], strict=False):
        for step in range(steps):
            t = step / steps
            bent.append((_bend(a[0], b[0], c[0], d[0], t), _bend(a[1], b[1], c[1], d[1], t)))
    return bent if closed else [*bent, points[-1]]


def _bend(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (
        2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3
    )
