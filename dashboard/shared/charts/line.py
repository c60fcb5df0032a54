"""A line over time with an area, marks, and the expected course after today.

Labels overlap neither the line nor the marks nor each other. They are laid out for a small width;
on a larger one there is more space.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, Self

from dashboard.shared.charts.scale import (
    AxisTick,
    ChartScale,
    GridLine,
    build_chart_scale,
    thin_axis_ticks,
)

REFERENCE_WIDTH_PX, REFERENCE_HEIGHT_PX = 400.0, 208.0  # size of the small drawing
DIGIT_WIDTH_PX, DIGIT_HEIGHT_PX = 6.2, 9.0  # a digit in the font size of charts
LABEL_PADDING_PX = 2.5  # between a label and anything else
MARK_RADIUS_PX = 6.0  # around the centre of a mark
# Positions of a threshold's label, in percent of the width, in the order they are tried.
THRESHOLD_LABEL_X_PERCENTS = (40.0, 55.0, 70.0, 25.0, 8.0)


class LabelPosition(NamedTuple):
    """A label's offset from its mark in px, and its text anchor."""

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
# Today is often the right end of the line, where the expected course starts.
TODAY_LABEL_POSITIONS = (
    RIGHT,
    LEFT,
    LabelPosition(-9, 17, "end"),
    LabelPosition(3, -14, "end"),
    LabelPosition(3, -24, "end"),
)


class LabelBox(NamedTuple):
    """A rectangle in px of the small drawing, from its upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def for_label(cls, label: str, position: LabelPosition, x: float, y: float) -> Self:
        """Return the box of a label at a mark; `x` and `y` in percent."""
        text_width = DIGIT_WIDTH_PX * len(label)
        at = REFERENCE_WIDTH_PX * x / 100 + position.x
        left = at - {"start": 0.0, "middle": text_width / 2, "end": text_width}[position.anchor]
        base = REFERENCE_HEIGHT_PX * y / 100 + position.y
        return cls(
            left - LABEL_PADDING_PX,
            base - DIGIT_HEIGHT_PX - LABEL_PADDING_PX,
            left + text_width + LABEL_PADDING_PX,
            base + LABEL_PADDING_PX,
        )

    def overlaps(self, other: LabelBox) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def is_crossed(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """True if the segment from `start` to `end` crosses the box; `start` is at the left."""
        if end[0] < self.left or start[0] > self.right:
            return False
        run = end[0] - start[0]
        ends = (max(start[0], self.left), min(end[0], self.right))
        high = [
            start[1] + (end[1] - start[1]) * (bound - start[0]) / run if run else 0.0
            for bound in ends
        ]
        at = high if run else [start[1], end[1]]
        return min(at) < self.bottom and max(at) > self.top


@dataclass(slots=True)
class LabelLayout:
    """The labels placed so far. Lines and marks are given in percent, x then y."""

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
        self, label: str, x: float, y: float, positions: Sequence[LabelPosition]
    ) -> LabelPosition | None:
        """Return the first free position and occupy it; None if none is free."""
        for position in positions:
            box = LabelBox.for_label(label, position, x, y)
            if self.is_free(box):
                self.occupied.append(box)
                return position
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
            box.is_crossed(start, end) for line in self.lines for start, end in pairwise(line)
        )


def percent_to_px(x: float, y: float) -> tuple[float, float]:
    return REFERENCE_WIDTH_PX * x / 100, REFERENCE_HEIGHT_PX * y / 100


@dataclass(frozen=True, slots=True)
class LinePoint:
    """`x` in percent of the width; two points with the same `x` are a jump."""

    x: float
    amount: Decimal


@dataclass(frozen=True, slots=True)
class ChartMark:
    """An event at a point. `kind`: in | plan | failed | now | next."""

    point: LinePoint
    kind: str
    title: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark in percent; `label` is empty if there is no space for it at any position."""

    x: float
    y: float
    kind: str
    title: str
    label: str
    label_position: LabelPosition = ABOVE


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """A horizontal threshold line; `x` is the position of its label; in percent."""

    y: float
    label: str
    x: float = THRESHOLD_LABEL_X_PERCENTS[0]


@dataclass(frozen=True, slots=True)
class HoverTarget:
    """A day that can be hovered: position and width in percent, and its text."""

    x: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """Paths are in a box of 100 by 100. `today_x` is where `expected` starts, `band` is the range
    around it. `text` is shown below until one of the `stops` is chosen."""

    sentence: str
    grid: tuple[GridLine, ...]
    path: str
    area: str
    expected: str
    today_x: float | None
    marks: tuple[PlacedMark, ...]
    threshold: ThresholdLine | None
    ticks: tuple[AxisTick, ...]
    band: str = ""
    stops: tuple[HoverTarget, ...] = ()
    text: str = ""


def build_line_chart(
    points: Sequence[LinePoint],
    sentence: str,
    *,
    ticks: Sequence[AxisTick] = (),
    marks: Sequence[ChartMark] = (),
    expected: Sequence[LinePoint] = (),
    band: Sequence[tuple[LinePoint, LinePoint]] = (),
    threshold: tuple[Decimal, str] | None = None,
    stops: Iterable[HoverTarget] = (),
    says: str = "",
) -> LineChart:
    """`points` go from left to right; `threshold` is an amount and its label; `band` is the lowest
    and the highest expected point at each x."""
    amounts = [point.amount for point in (*points, *expected, *(high for _, high in band))]
    scale = build_chart_scale(max([*amounts, threshold[0] if threshold else Decimal(0)]))
    path = build_svg_path(points, scale)
    area = f"{path}L{points[-1].x:.2f} 100L{points[0].x:.2f} 100Z" if points else ""
    layout = LabelLayout.from_lines_and_marks(
        [[(point.x, scale.y(point.amount)) for point in line] for line in (points, expected)],
        [(mark.point.x, scale.y(mark.point.amount)) for mark in marks],
    )
    rule = ThresholdLine(scale.y(threshold[0]), threshold[1]) if threshold else None
    return LineChart(
        sentence=sentence,
        grid=scale.grid,
        path=path,
        area=area,
        expected=build_svg_path(expected, scale),
        today_x=points[-1].x if expected and points else None,
        marks=place_marks(marks, scale, layout),
        threshold=place_threshold_label(rule, layout) if rule else None,
        ticks=thin_axis_ticks(list(ticks)),
        band=build_svg_path([low for low, _ in band] + [high for _, high in reversed(band)], scale),
        stops=tuple(stops),
        text=says,
    )


def build_svg_path(points: Sequence[LinePoint], scale: ChartScale) -> str:
    steps = (f"{point.x:.2f} {scale.y(point.amount):.2f}" for point in points)
    return f"M{'L'.join(steps)}" if points else ""


def place_marks(
    marks: Sequence[ChartMark], scale: ChartScale, layout: LabelLayout
) -> tuple[PlacedMark, ...]:
    """Today's amount is placed first, and always shown; the other marks follow in order."""
    placed: dict[int, PlacedMark] = {}
    for number in sorted(range(len(marks)), key=lambda number: marks[number].kind != "now"):
        mark = marks[number]
        x, y = mark.point.x, scale.y(mark.point.amount)
        positions = TODAY_LABEL_POSITIONS if mark.kind == "now" else MARK_LABEL_POSITIONS
        position = layout.place(mark.label, x, y, positions) if mark.label else None
        label = mark.label if position or mark.kind == "now" else ""
        placed[number] = PlacedMark(x, y, mark.kind, mark.title, label, position or positions[1])
    return tuple(placed[number] for number in range(len(marks)))


def place_threshold_label(rule: ThresholdLine, layout: LabelLayout) -> ThresholdLine:
    """Place the label where nothing crosses it, if there is such a position."""
    position = LabelPosition(0, -6, "start")
    free_xs = (
        x for x in THRESHOLD_LABEL_X_PERCENTS if layout.place(rule.label, x, rule.y, [position])
    )
    return replace(rule, x=next(free_xs, rule.x))
