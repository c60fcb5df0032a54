"""Where the words in a line chart stand: touching neither the line, nor its marks, nor each other.

The drawing fits every width, so room is reckoned for a small one; on a larger one there is more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Self

WIDTH, HEIGHT = 400.0, 208.0  # px of the small drawing
LETTER, CAP = 6.2, 9.0  # px of one digit in the size of charts: its width, its height
AIR = 2.5  # px between a word and anything else
GLYPH = 6.0  # px around the middle of a mark
RULED_AT = (40.0, 55.0, 70.0, 25.0, 8.0)  # percent of the width where a threshold may be named


class Spot(NamedTuple):
    """A word's place: px from its mark, and which of its ends stands there."""

    x: int
    y: int
    anchor: str  # start | middle | end


ABOVE, RIGHT, LEFT, BELOW = (
    Spot(0, -12, "middle"),
    Spot(10, -5, "start"),
    Spot(-10, -9, "end"),
    Spot(0, 20, "middle"),
)
FOR_A_MARK = (ABOVE, Spot(3, -12, "end"), Spot(-3, -12, "start"), RIGHT, LEFT, BELOW)
# Today is the right end of many charts, and what is expected goes on from there.
FOR_TODAY = (RIGHT, LEFT, Spot(-9, 17, "end"), Spot(3, -14, "end"), Spot(3, -24, "end"))


class Box(NamedTuple):
    """In px of the small drawing, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of(cls, label: str, spot: Spot, x: float, y: float) -> Self:
        """Of a word at a mark in percent."""
        long = LETTER * len(label)
        at = WIDTH * x / 100 + spot.x
        left = at - {"start": 0.0, "middle": long / 2, "end": long}[spot.anchor]
        base = HEIGHT * y / 100 + spot.y
        return cls(left - AIR, base - CAP - AIR, left + long + AIR, base + AIR)

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def is_crossed(self, one: tuple[float, float], two: tuple[float, float]) -> bool:
        """By the piece of a line from `one` to `two`, `one` at the left."""
        if two[0] < self.left or one[0] > self.right:
            return False
        run = two[0] - one[0]
        ends = (max(one[0], self.left), min(two[0], self.right))
        high = [one[1] + (two[1] - one[1]) * (end - one[0]) / run if run else 0.0 for end in ends]
        at = high if run else [one[1], two[1]]
        return min(at) < self.bottom and max(at) > self.top


@dataclass(slots=True)
class Room:
    """What is drawn so far. Lines and marks are given in percent, x and then y."""

    lines: list[list[tuple[float, float]]]
    taken: list[Box] = field(default_factory=list)

    @classmethod
    def around(
        cls,
        lines: Iterable[Iterable[tuple[float, float]]],
        marks: Iterable[tuple[float, float]],
    ) -> Self:
        glyphs = [
            Box(x - GLYPH, y - GLYPH, x + GLYPH, y + GLYPH) for x, y in (sized(*m) for m in marks)
        ]
        return cls([[sized(*point) for point in line] for line in lines], glyphs)

    def place(self, label: str, x: float, y: float, spots: Sequence[Spot]) -> Spot | None:
        """The first spot that is free, which is taken then; none where there is no room."""
        for spot in spots:
            box = Box.of(label, spot, x, y)
            if self.is_free(box):
                self.taken.append(box)
                return spot
        return None

    def is_free(self, box: Box) -> bool:
        if box.left < 0 or box.right > WIDTH + GLYPH or box.top < -CAP or box.bottom > HEIGHT:
            return False
        return not any(box.meets(other) for other in self.taken) and not any(
            box.is_crossed(one, two) for line in self.lines for one, two in pairwise(line)
        )


def sized(x: float, y: float) -> tuple[float, float]:
    return WIDTH * x / 100, HEIGHT * y / 100
