"""A line over time with an area under it, marks on it, and what is expected after today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from dashboard.shared.charts.labels import (
    ABOVE,
    MARK_LABEL_POSITIONS,
    THRESHOLD_LABEL_X_PERCENTS,
    TODAY_LABEL_POSITIONS,
    LabelLayout,
    LabelPosition,
)
from dashboard.shared.charts.scale import (
    AxisTick,
    ChartScale,
    GridLine,
    build_chart_scale,
    thin_axis_ticks,
)


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
