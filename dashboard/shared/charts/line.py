"""A line over time with an area under it, marks on it, and what is expected after today.

Its words touch neither the line, nor its marks, nor each other. The drawing fits every width, so
room is reckoned for a small one; on a larger one there is more.
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


@dataclass(frozen=True, slots=True)
class LinePoint:
    """`x` in percent of the width; two points at one place are a jump."""

    x: float
    amount: Decimal


@dataclass(frozen=True, slots=True)
class ChartMark:
    """Something that happened at a point. `kind`: in | plan | failed | now | next."""

    point: LinePoint
    kind: str
    title: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark in percent; `spot` is where its label stands, and there is none without room."""

    x: float
    y: float
    kind: str
    title: str
    label: str
    label_position: LabelPosition = ABOVE


@dataclass(frozen=True, slots=True)
class ThresholdLine:
    """A threshold across the chart, and where on it its words stand."""

    y: float
    label: str
    x: float = THRESHOLD_LABEL_X_PERCENTS[0]


@dataclass(frozen=True, slots=True)
class HoverTarget:
    """A day under the pointer: its place in percent of the width, and what is told of it."""

    x: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class LineChart:
    """Paths are in a box of 100 by 100. `now` is where today is; `next` what is expected, `band`
    the range around it. `says` stands under it until one of the `stops` is chosen."""

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
    """`points` from the left to the right; a `threshold` is an amount and its words. `band`: the
    lowest and the highest that is expected, at each place."""
    amounts = [point.amount for point in (*points, *expected, *(high for _, high in band))]
    scale = build_chart_scale(max([*amounts, threshold[0] if threshold else Decimal(0)]))
    path = build_svg_path(points, scale)
    area = f"{path}L{points[-1].x:.2f} 100L{points[0].x:.2f} 100Z" if points else ""
    room = LabelLayout.from_lines_and_marks(
        [[(point.x, scale.y(point.amount)) for point in line] for line in (points, expected)],
        [(one.point.x, scale.y(one.point.amount)) for one in marks],
    )
    rule = ThresholdLine(scale.y(threshold[0]), threshold[1]) if threshold else None
    return LineChart(
        sentence=sentence,
        grid=scale.grid,
        path=path,
        area=area,
        expected=build_svg_path(expected, scale),
        today_x=points[-1].x if expected and points else None,
        marks=place_marks(marks, scale, room),
        threshold=place_threshold_label(rule, room) if rule else None,
        ticks=thin_axis_ticks(list(ticks)),
        band=build_svg_path([low for low, _ in band] + [high for _, high in reversed(band)], scale),
        stops=tuple(stops),
        text=says,
    )


def build_svg_path(points: Sequence[LinePoint], scale: ChartScale) -> str:
    steps = (f"{point.x:.2f} {scale.y(point.amount):.2f}" for point in points)
    return f"M{'L'.join(steps)}" if points else ""


def place_marks(
    marks: Sequence[ChartMark], scale: ChartScale, room: LabelLayout
) -> tuple[PlacedMark, ...]:
    """Today's amount has its place first, and one at any rate; the others as they come."""
    found: dict[int, PlacedMark] = {}
    for number in sorted(range(len(marks)), key=lambda number: marks[number].kind != "now"):
        one = marks[number]
        x, y = one.point.x, scale.y(one.point.amount)
        spots = TODAY_LABEL_POSITIONS if one.kind == "now" else MARK_LABEL_POSITIONS
        spot = room.place(one.label, x, y, spots) if one.label else None
        label = one.label if spot or one.kind == "now" else ""
        found[number] = PlacedMark(x, y, one.kind, one.title, label, spot or spots[1])
    return tuple(found[number] for number in range(len(marks)))


def place_threshold_label(rule: ThresholdLine, room: LabelLayout) -> ThresholdLine:
    """Where nothing crosses its words, as far as there is such a place."""
    spot = LabelPosition(0, -6, "start")
    free = (x for x in THRESHOLD_LABEL_X_PERCENTS if room.place(rule.label, x, rule.y, [spot]))
    return replace(rule, x=next(free, rule.x))
