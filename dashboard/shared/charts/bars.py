"""Stacked bars: credits per day or month, one colour per series, the first series at the bottom."""

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
    """`tone` is the CSS class of the colour, from charts/scale.py."""

    key: str
    label: str
    tone: str


@dataclass(frozen=True, slots=True)
class BarColumn:
    """`name` is the full label ("Fri 20 Nov"), `short` the axis label; `amounts` are credits by
    series key."""

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
    """A segment of a bar; lengths in percent."""

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
    """All segments of a colour as one path in a box of 100 by 100, however many columns there
    are."""

    tone: str
    path: str


@dataclass(frozen=True, slots=True)
class StackedBar:
    """`x` and `width` are those of the whole column, which is the hover target; in percent."""

    x: float
    width: float
    text: str
    pieces: tuple[BarSegment, ...]


class BarTableRow(NamedTuple):
    """A column as a table row; `amounts` in the order of the series, None for no credits."""

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
        """Return the rows, newest first."""
        return tuple(
            BarTableRow(
                column.name,
                tuple(column.amounts.get(series.key) or None for series in self.series),
                column.total,
            )
            for column in self.columns[::-1]
        )


def build_bar_chart(
    series: Sequence[BarSeries], columns: Sequence[BarColumn], sentence: str
) -> BarChart:
    """`sentence` is the text alternative for screen readers. Series without credits are left
    out."""
    shown = tuple(
        part for part in series if any(column.amounts.get(part.key) for column in columns)
    )
    scale = build_chart_scale(max((column.total for column in columns), default=ZERO_CREDITS))
    width = 100 / max(1, len(columns))
    bars, ticks = [], []
    for index, column in enumerate(columns):
        x, bar_width = index * width, width * (1 - 2 * BAR_MARGIN_SHARE)
        pieces, below = [], ZERO_CREDITS
        for part in shown:
            amount = column.amounts.get(part.key) or ZERO_CREDITS
            if amount > 0:
                y = scale.y(below + amount)
                pieces.append(
                    BarSegment(
                        part.tone,
                        x + width * BAR_MARGIN_SHARE,
                        bar_width,
                        y,
                        100 - scale.height(below) - y,
                    )
                )
                below += amount
        bars.append(StackedBar(x, width, bar_column_text(column, shown), tuple(pieces)))
        ticks.append(AxisTick(x + width / 2, column.short, is_strong=column.is_now))
    layers = tuple(build_bar_layers(shown, bars))
    return BarChart(
        sentence, shown, tuple(columns), scale.grid, tuple(bars), layers, thin_axis_ticks(ticks)
    )


def build_bar_layers(series: Sequence[BarSeries], bars: Sequence[StackedBar]) -> Iterator[BarLayer]:
    """Yield a layer per colour, in the order of the series; several series may share a colour."""
    paths: dict[str, list[str]] = {part.tone: [] for part in series}
    for bar in bars:
        for piece in bar.pieces:
            paths[piece.tone].append(piece.path)
    for tone, pieces in paths.items():
        yield BarLayer(tone, "".join(pieces))


def bar_column_text(column: BarColumn, series: Sequence[BarSeries]) -> str:
    """Return a text such as `Fri 20 Nov: 729 cr. Priya 224, Luca 88, outside the portal 96.`"""
    if not column.total:
        return f"{column.name}: nothing."
    parts = [
        f"{part.label} {credits(column.amounts[part.key])}"
        for part in series
        if column.amounts.get(part.key)
    ]
    return f"{column.name}: {credits(column.total)} cr. {', '.join(parts)}."
