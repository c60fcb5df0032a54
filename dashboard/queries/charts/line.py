"""A line over time with an area under it, marks on it, and what is expected after today."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from dashboard.queries.charts.labels import ABOVE, FOR_A_MARK, FOR_TODAY, RULED_AT, Room, Spot
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
    """A mark in percent; `spot` is where its label stands, and there is none without room."""

    x: float
    y: float
    kind: str
    title: str
    label: str
    spot: Spot = ABOVE


@dataclass(frozen=True, slots=True)
class Rule:
    """A threshold across the chart, and where on it its words stand."""

    y: float
    label: str
    x: float = RULED_AT[0]


@dataclass(frozen=True, slots=True)
class Stop:
    """A day under the pointer: its place in percent of the width, and what is told of it."""

    x: float
    width: float
    says: str


@dataclass(frozen=True, slots=True)
class Line:
    """Paths are in a box of 100 by 100. `now` is where today is; `next` what is expected, `band`
    the range around it. `says` stands under it until one of the `stops` is chosen."""

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
    stops: tuple[Stop, ...] = ()
    says: str = ""


def line_of(
    points: Sequence[Point],
    sentence: str,
    *,
    ticks: Sequence[Tick] = (),
    marks: Sequence[Mark] = (),
    expected: Sequence[Point] = (),
    band: Sequence[tuple[Point, Point]] = (),
    threshold: tuple[Decimal, str] | None = None,
    stops: Iterable[Stop] = (),
    says: str = "",
) -> Line:
    """`points` from the left to the right; a `threshold` is an amount and its words. `band`: the
    lowest and the highest that is expected, at each place."""
    amounts = [point.amount for point in (*points, *expected, *(high for _, high in band))]
    scale = scale_to(max([*amounts, threshold[0] if threshold else Decimal(0)]))
    path = drawn(points, scale)
    area = f"{path}L{points[-1].x:.2f} 100L{points[0].x:.2f} 100Z" if points else ""
    room = Room.around(
        [[(point.x, scale.y(point.amount)) for point in line] for line in (points, expected)],
        [(one.point.x, scale.y(one.point.amount)) for one in marks],
    )
    rule = Rule(scale.y(threshold[0]), threshold[1]) if threshold else None
    return Line(
        sentence=sentence,
        grid=scale.grid,
        path=path,
        area=area,
        next=drawn(expected, scale),
        now=points[-1].x if expected and points else None,
        marks=placed(marks, scale, room),
        rule=ruled(rule, room) if rule else None,
        ticks=thinned(list(ticks)),
        band=drawn([low for low, _ in band] + [high for _, high in reversed(band)], scale),
        stops=tuple(stops),
        says=says,
    )


def drawn(points: Sequence[Point], scale: Scale) -> str:
    steps = (f"{point.x:.2f} {scale.y(point.amount):.2f}" for point in points)
    return f"M{'L'.join(steps)}" if points else ""


def placed(marks: Sequence[Mark], scale: Scale, room: Room) -> tuple[Placed, ...]:
    """Today's amount has its place first, and one at any rate; the others as they come."""
    found: dict[int, Placed] = {}
    for number in sorted(range(len(marks)), key=lambda number: marks[number].kind != "now"):
        one = marks[number]
        x, y = one.point.x, scale.y(one.point.amount)
        spots = FOR_TODAY if one.kind == "now" else FOR_A_MARK
        spot = room.place(one.label, x, y, spots) if one.label else None
        label = one.label if spot or one.kind == "now" else ""
        found[number] = Placed(x, y, one.kind, one.title, label, spot or spots[1])
    return tuple(found[number] for number in range(len(marks)))


def ruled(rule: Rule, room: Room) -> Rule:
    """Where nothing crosses its words, as far as there is such a place."""
    spot = Spot(0, -6, "start")
    free = (x for x in RULED_AT if room.place(rule.label, x, rule.y, [spot]))
    return replace(rule, x=next(free, rule.x))
