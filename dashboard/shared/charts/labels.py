"""Where the words in a line chart stand: touching neither the line, nor its marks, nor each other.

The drawing fits every width, so room is reckoned for a small one; on a larger one there is more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple, Self

REFERENCE_WIDTH_PX, REFERENCE_HEIGHT_PX = 400.0, 208.0  # px of the small drawing
DIGIT_WIDTH_PX, DIGIT_HEIGHT_PX = (
    6.2,
    9.0,
)  # px of one digit in the size of charts: its width, its height
LABEL_PADDING_PX = 2.5  # px between a word and anything else
MARK_RADIUS_PX = 6.0  # px around the middle of a mark
THRESHOLD_LABEL_X_PERCENTS = (
    40.0,
    55.0,
    70.0,
    25.0,
    8.0,
)  # percent of the width where a threshold may be named


class LabelPosition(NamedTuple):
    """A word's place: px from its mark, and which of its ends stands there."""

    x: int
    y: int
    anchor: str  # start | middle | end


ABOVE, RIGHT, LEFT, BELOW = (
    LabelPosition(0, -12, "middle"),
    LabelPosition(10, -5, "start"),
    LabelPosition(-10, -9, "end"),
    LabelPosition(0, 20, "middle"),
)
MARK_LABEL_POSITIONS = (
    ABOVE,
    LabelPosition(3, -12, "end"),
    LabelPosition(-3, -12, "start"),
    RIGHT,
    LEFT,
    BELOW,
)
# Today is the right end of many charts, and what is expected goes on from there.
TODAY_LABEL_POSITIONS = (
    RIGHT,
    LEFT,
    LabelPosition(-9, 17, "end"),
    LabelPosition(3, -14, "end"),
    LabelPosition(3, -24, "end"),
)


class LabelBox(NamedTuple):
    """In px of the small drawing, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def for_label(cls, label: str, spot: LabelPosition, x: float, y: float) -> Self:
        """Of a word at a mark in percent."""
        long = DIGIT_WIDTH_PX * len(label)
        at = REFERENCE_WIDTH_PX * x / 100 + spot.x
        left = at - {"start": 0.0, "middle": long / 2, "end": long}[spot.anchor]
        base = REFERENCE_HEIGHT_PX * y / 100 + spot.y
        return cls(
            left - LABEL_PADDING_PX,
            base - DIGIT_HEIGHT_PX - LABEL_PADDING_PX,
            left + long + LABEL_PADDING_PX,
            base + LABEL_PADDING_PX,
        )

    def overlaps(self, other: LabelBox) -> bool:
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
class LabelLayout:
    """What is drawn so far. Lines and marks are given in percent, x and then y."""

    lines: list[list[tuple[float, float]]]
    occupied: list[LabelBox] = field(default_factory=list)

    @classmethod
    def from_lines_and_marks(
        cls,
        lines: Iterable[Iterable[tuple[float, float]]],
        marks: Iterable[tuple[float, float]],
    ) -> Self:
        glyphs = [
            LabelBox(x - MARK_RADIUS_PX, y - MARK_RADIUS_PX, x + MARK_RADIUS_PX, y + MARK_RADIUS_PX)
            for x, y in (percent_to_px(*m) for m in marks)
        ]
        return cls([[percent_to_px(*point) for point in line] for line in lines], glyphs)

    def place(
        self, label: str, x: float, y: float, spots: Sequence[LabelPosition]
    ) -> LabelPosition | None:
        """The first spot that is free, which is taken then; none where there is no room."""
        for spot in spots:
            box = LabelBox.for_label(label, spot, x, y)
            if self.is_free(box):
                self.occupied.append(box)
                return spot
        return None

    def is_free(self, box: LabelBox) -> bool:
        if (
            box.left < 0
            or box.right > REFERENCE_WIDTH_PX + MARK_RADIUS_PX
            or box.top < -DIGIT_HEIGHT_PX
            or box.bottom > REFERENCE_HEIGHT_PX
        ):
            return False
        return not any(box.overlaps(other) for other in self.occupied) and not any(
            box.is_crossed(one, two) for line in self.lines for one, two in pairwise(line)
        )


def percent_to_px(x: float, y: float) -> tuple[float, float]:
    return REFERENCE_WIDTH_PX * x / 100, REFERENCE_HEIGHT_PX * y / 100
