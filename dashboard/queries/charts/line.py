"""A line over time with an area under it, marks on it, and what is expected after today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dashboard.queries.charts.scale import GridLine, Scale, Tick, scale_to, thinned


@dataclass(frozen=True, slots=True)
class Point:
    """`x` in percent of the width; two points at one place are a jump."""

    x: float
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a point. `kind`: in | plan | failed | now | next."""

    point: Point
    kind: str
    title: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark in percent; `before` puts its label at its left, for the right end has no room."""

    x: float
    y: float
    kind: str
    title: str
    label: str

    @property
    def before(self) -> bool:
        return self.x > 82

    @property
    def deep(self) -> bool:
        """Near the foot there is no room for a label below."""
        return self.y > 85

    @property
    def low(self) -> bool:
        """Near the top there is no room for a label above."""
        return self.y < 10


@dataclass(frozen=True, slots=True)
class Rule:
    """A threshold across the chart."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """Paths are in a box of 100 by 100. `now` is where today is; `next` what is expected, `band`
    the range around it."""

    sentence: str
    grid: tuple[GridLine, ...]
    path: str
    area: str
    next: str
    now: float | None
    marks: tuple[Placed, ...]
    rule: Rule | None
    ticks: tuple[Tick, ...]
    band: str = ""


def line_of(
    points: Sequence[Point],
    sentence: str,
    *,
    ticks: Sequence[Tick] = (),
    marks: Sequence[Mark] = (),
    expected: Sequence[Point] = (),
    band: Sequence[tuple[Point, Point]] = (),
    threshold: tuple[Decimal, str] | None = None,
) -> Line:
    """`points` from the left to the right; a `threshold` is an amount and its words. `band`: the
    lowest and the highest that is expected, at each place."""
    amounts = [point.amount for point in (*points, *expected, *(high for _, high in band))]
    scale = scale_to(max([*amounts, threshold[0] if threshold else Decimal(0)]))
    path = drawn(points, scale)
    area = f"{path}L{points[-1].x:.2f} 100L{points[0].x:.2f} 100Z" if points else ""
    placed = (
        Placed(one.point.x, scale.y(one.point.amount), one.kind, one.title, one.label)
        for one in marks
    )
    return Line(
        sentence=sentence,
        grid=scale.grid,
        path=path,
        area=area,
        next=drawn(expected, scale),
        now=points[-1].x if expected and points else None,
        marks=tuple(placed),
        rule=Rule(scale.y(threshold[0]), threshold[1]) if threshold else None,
        ticks=thinned(list(ticks)),
        band=drawn([low for low, _ in band] + [high for _, high in reversed(band)], scale),
    )


def drawn(points: Sequence[Point], scale: Scale) -> str:
    steps = (f"{point.x:.2f} {scale.y(point.amount):.2f}" for point in points)
    return f"M{'L'.join(steps)}" if points else ""
