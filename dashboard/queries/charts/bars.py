"""Stacked bars: credits per day (or month), one colour a series, the first series at the foot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from dashboard.queries.charts.scale import GridLine, Tick, scale_to, thinned
from dashboard.queries.charts.tones import OUTSIDE
from dashboard.templatetags.reelroom import credits

GAP = 0.19  # of a column's width, at each side of its bar
NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Series:
    """`tone`: a colour's class, from tones.py."""

    key: str
    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class Column:
    """`name` in full ("Fri 20 Nov"), `short` for the axis; `amounts` by the series' keys."""

    name: str
    short: str
    amounts: Mapping[str, Decimal]
    url: str = ""
    is_now: bool = False

    @property
    def total(self) -> Decimal:
        return sum(self.amounts.values(), NOTHING)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a bar, in percent."""

    tone: str
    x: float
    width: float
    y: float
    height: float

    @property
    def is_hatched(self) -> bool:
        return self.tone == OUTSIDE

    @property
    def path(self) -> str:
        return f"M{self.x:.2f} {self.y:.2f}h{self.width:.2f}v{self.height:.2f}h-{self.width:.2f}Z"


@dataclass(frozen=True, slots=True)
class Layer:
    """All pieces of one colour, in a box of 100 by 100: one shape, however many columns have it."""

    tone: str
    path: str


@dataclass(frozen=True, slots=True)
class Bar:
    """`x` and `width` are those of the whole column, which answers to the pointer."""

    x: float
    width: float
    says: str
    pieces: tuple[Piece, ...]


class Told(NamedTuple):
    """A column as a row of the table; `amounts` in the order of the series, None for nothing."""

    name: str
    amounts: tuple[Decimal | None, ...]
    total: Decimal


@dataclass(frozen=True, slots=True)
class Bars:
    sentence: str
    series: tuple[Series, ...]
    columns: tuple[Column, ...]
    grid: tuple[GridLine, ...]
    bars: tuple[Bar, ...]
    layers: tuple[Layer, ...]
    ticks: tuple[Tick, ...]

    @property
    def hatched(self) -> tuple[Piece, ...]:
        return tuple(piece for bar in self.bars for piece in bar.pieces if piece.is_hatched)

    @property
    def total(self) -> Decimal:
        return sum((column.total for column in self.columns), NOTHING)

    @property
    def table(self) -> tuple[Told, ...]:
        """The newest first."""
        return tuple(
            Told(
                column.name,
                tuple(column.amounts.get(one.key) or None for one in self.series),
                column.total,
            )
            for column in self.columns[::-1]
        )


def bars_of(series: Sequence[Series], columns: Sequence[Column], sentence: str) -> Bars:
    """`sentence` is the chart for who cannot see it. Series without credits are left out."""
    seen = tuple(one for one in series if any(column.amounts.get(one.key) for column in columns))
    scale = scale_to(max((column.total for column in columns), default=NOTHING))
    width = 100 / max(1, len(columns))
    bars, ticks = [], []
    for place, column in enumerate(columns):
        x, inner = place * width, width * (1 - 2 * GAP)
        pieces, below = [], NOTHING
        for one in seen:
            amount = column.amounts.get(one.key) or NOTHING
            if amount > 0:
                y = scale.y(below + amount)
                pieces.append(
                    Piece(one.tone, x + width * GAP, inner, y, 100 - scale.height(below) - y)
                )
                below += amount
        bars.append(Bar(x, width, says(column, seen), tuple(pieces)))
        ticks.append(Tick(x + width / 2, column.short, is_strong=column.is_now))
    layers = tuple(layers_of(seen, bars))
    return Bars(sentence, seen, tuple(columns), scale.grid, tuple(bars), layers, thinned(ticks))


def layers_of(series: Sequence[Series], bars: Sequence[Bar]) -> Iterator[Layer]:
    """In the order of the series; some may share a colour."""
    paths: dict[str, list[str]] = {one.tone: [] for one in series}
    for bar in bars:
        for piece in bar.pieces:
            paths[piece.tone].append(piece.path)
    for tone, pieces in paths.items():
        yield Layer(tone, "".join(pieces))


def says(column: Column, series: Sequence[Series]) -> str:
    """`Fri 20 Nov: 729 cr. Priya 224, Luca 88, outside the portal 96.`"""
    if not column.total:
        return f"{column.name}: nothing."
    parts = [
        f"{one.label} {credits(column.amounts[one.key])}"
        for one in series
        if column.amounts.get(one.key)
    ]
    return f"{column.name}: {credits(column.total)} cr. {', '.join(parts)}."
