"""Drawing in units of a subject: (0, 0) is its foot, 1 its height, and up is up."""

from __future__ import annotations

from dataclasses import dataclass

from proxyapi.sandbox.media.canvas import Canvas, Paint
from proxyapi.sandbox.media.curves import Point
from proxyapi.sandbox.media.palettes import Colour


@dataclass(frozen=True, slots=True)
class Brush:
    """`facing` is 1, or -1 for the mirror image."""

    canvas: Canvas
    x: float
    y: float
    size: float
    facing: int = 1

    def at(self, point: Point) -> Point:
        return self.x + point[0] * self.size * self.facing, self.y - point[1] * self.size

    def poly(self, paint: Paint, *points: Point, opacity: float = 1.0) -> None:
        self.canvas.polygon([self.at(point) for point in points], paint, opacity)

    def blob(self, paint: Paint, *points: Point, opacity: float = 1.0) -> None:
        self.canvas.blob([self.at(point) for point in points], paint, opacity)

    def disc(self, paint: Paint, x: float, y: float, radius: float, opacity: float = 1.0) -> None:
        self.oval(paint, x, y, radius, radius, opacity)

    def oval(
        self, paint: Paint, x: float, y: float, across: float, down: float, opacity: float = 1.0
    ) -> None:
        left, top = self.at((x, y))
        self.canvas.ellipse(left, top, across * self.size, down * self.size, paint, opacity)

    def box(
        self,
        paint: Paint,
        left: float,
        bottom: float,
        right: float,
        top: float,
        *,
        corner: float = 0.0,
        opacity: float = 1.0,
    ) -> None:
        ends = sorted((self.at((left, top))[0], self.at((right, top))[0]))
        high = self.at((left, top))[1]
        wide, tall = ends[1] - ends[0], (top - bottom) * self.size
        self.canvas.box(ends[0], high, wide, tall, paint, opacity, corner * self.size)

    def line(self, paint: Paint, width: float, *points: Point, opacity: float = 1.0) -> None:
        thick = max(1.0, width * self.size)
        self.canvas.line([self.at(point) for point in points], thick, paint, opacity)

    def curve(self, paint: Paint, width: float, *points: Point, opacity: float = 1.0) -> None:
        thick = max(1.0, width * self.size)
        self.canvas.curve([self.at(point) for point in points], thick, paint, opacity)

    def glow(self, colour: Colour, x: float, y: float, radius: float, strength: float) -> None:
        left, top = self.at((x, y))
        self.canvas.glow(left, top, radius * self.size, colour, strength)
