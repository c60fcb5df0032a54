"""Stacked bars: credits per day (or month), one colour a series, the first series at the foot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from dashboard.shared.charts.scale import (
    OUTSIDE_TONE,
    AxisTick,
    GridLine,
    build_chart_scale,
    thin_axis_ticks,
)
from dashboard.shared.formatting import credits

BAR_MARGIN_SHARE = 0.19  # of a column's width, at each side of its bar
ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class BarSeries:
    """`tone`: a colour's class, from tones.py."""

    key: str
    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class BarColumn:
    """`name` in full ("Fri 20 Nov"), `short` for the axis; `amounts` by the series' keys."""

    name: str
    short: str
    amounts: Mapping[str, Decimal]
    url: str = ""
    is_now: bool = False

    @property
    def total(self) -> Decimal:
        return sum(self.amounts.values(), ZERO_CREDITS)


@dataclass(frozen=True, slots=True)
class BarSegment:
    """A part of a bar, in percent."""

    tone: str
    x: float
    width: float
    y: float
    height: float

    @property
    def is_hatched(self) -> bool:
        return self.tone == OUTSIDE_TONE

    @property
    def path(self) -> str:
        return f"M{self.x:.2f} {self.y:.2f}h{self.width:.2f}v{self.height:.2f}h-{self.width:.2f}Z"


@dataclass(frozen=True, slots=True)
class BarLayer:
    """All pieces of one colour, in a box of 100 by 100: one shape, however many columns have it."""

    tone: str
    path: str


@dataclass(frozen=True, slots=True)
class StackedBar:
    """`x` and `width` are those of the whole column, which answers to the pointer."""

    x: float
    width: float
    text: str
    pieces: tuple[BarSegment, ...]


class BarTableRow(NamedTuple):
    """A column as a row of the table; `amounts` in the order of the series, None for nothing."""

    name: str
    amounts: tuple[Decimal | None, ...]
    total: Decimal


@dataclass(frozen=True, slots=True)
class BarChart:
    sentence: str
    series: tuple[BarSeries, ...]
    columns: tuple[BarColumn, ...]
    grid: tuple[GridLine, ...]
    bars: tuple[StackedBar, ...]
    layers: tuple[BarLayer, ...]
    ticks: tuple[AxisTick, ...]

    @property
    def hatched(self) -> tuple[BarSegment, ...]:
        return tuple(piece for bar in self.bars for piece in bar.pieces if piece.is_hatched)

    @property
    def total(self) -> Decimal:
        return sum((column.total for column in self.columns), ZERO_CREDITS)

    @property
    def table(self) -> tuple[BarTableRow, ...]:
        """The newest first."""
        return tuple(
            BarTableRow(
                column.name,
                tuple(column.amounts.get(one.key) or None for one in self.series),
                column.total,
            )
            for column in self.columns[::-1]
        )


def build_bar_chart(
    series: Sequence[BarSeries], columns: Sequence[BarColumn], sentence: str
) -> BarChart:
    """`sentence` is the chart for who cannot see it. Series without credits are left out."""
    seen = tuple(one for one in series if any(column.amounts.get(one.key) for column in columns))
    scale = build_chart_scale(max((column.total for column in columns), default=ZERO_CREDITS))
    width = 100 / max(1, len(columns))
    bars, ticks = [], []
    for place, column in enumerate(columns):
        x, inner = place * width, width * (1 - 2 * BAR_MARGIN_SHARE)
        pieces, below = [], ZERO_CREDITS
        for one in seen:
            amount = column.amounts.get(one.key) or ZERO_CREDITS
            if amount > 0:
                y = scale.y(below + amount)
                pieces.append(
                    BarSegment(
                        one.tone,
                        x + width * BAR_MARGIN_SHARE,
                        inner,
                        y,
                        100 - scale.height(below) - y,
                    )
                )
                below += amount
        bars.append(StackedBar(x, width, bar_column_text(column, seen), tuple(pieces)))
        ticks.append(AxisTick(x + width / 2, column.short, is_strong=column.is_now))
    layers = tuple(build_bar_layers(seen, bars))
    return BarChart(
        sentence, seen, tuple(columns), scale.grid, tuple(bars), layers, thin_axis_ticks(ticks)
    )


def build_bar_layers(series: Sequence[BarSeries], bars: Sequence[StackedBar]) -> Iterator[BarLayer]:
    """In the order of the series; some may share a colour."""
    paths: dict[str, list[str]] = {one.tone: [] for one in series}
    for bar in bars:
        for piece in bar.pieces:
            paths[piece.tone].append(piece.path)
    for tone, pieces in paths.items():
        yield BarLayer(tone, "".join(pieces))


def bar_column_text(column: BarColumn, series: Sequence[BarSeries]) -> str:
    """`Fri 20 Nov: 729 cr. Priya 224, Luca 88, outside the portal 96.`"""
    if not column.total:
        return f"{column.name}: nothing."
    parts = [
        f"{one.label} {credits(column.amounts[one.key])}"
        for one in series
        if column.amounts.get(one.key)
    ]
    return f"{column.name}: {credits(column.total)} cr. {', '.join(parts)}."
