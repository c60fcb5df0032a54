"""The upright scale of a chart, always from 0, three or four steps of a round number of credits,
and the colours of its series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

ROUND_STEP_FACTORS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5))
MIN_LABEL_GAP_PERCENT = 12.0  # percent of the width that a date needs at least
SERIES_TONES = ("m1", "m2", "m3", "m4", "m6")
OTHERS_TONE = "m5"  # slate: everybody from the sixth on
OUTSIDE_TONE = "outside"  # hatched grey, never a colour


@dataclass(frozen=True, slots=True)
class GridLine:
    """`y` in percent from the top; a minor one has no label and hides on narrow cards."""

    y: float
    label: Decimal | None
    is_base: bool


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A word under the chart. `x` in percent; `anchor`: start | middle | end."""

    x: float
    label: str
    anchor: str = "middle"
    is_strong: bool = False
    is_minor: bool = False


@dataclass(frozen=True, slots=True)
class ChartScale:
    top: Decimal
    grid: tuple[GridLine, ...]

    def height(self, amount: Decimal) -> float:
        """Percent of the chart's height; nothing hangs below 0 or stands above the top."""
        return float(100 * min(max(amount, Decimal(0)), self.top) / self.top)

    def y(self, amount: Decimal) -> float:
        return 100 - self.height(amount)


def build_chart_scale(most: Decimal) -> ChartScale:
    """The lowest scale that holds `most` credits."""
    step, count = next((step, count) for step, count in iter_scale_steps() if step * count >= most)
    lines = (
        GridLine(
            y=100 - 100 * number / count,
            label=None if count == 4 and number % 2 else step * number,
            is_base=number == 0,
        )
        for number in range(count + 1)
    )
    return ChartScale(step * count, tuple(lines))


def iter_scale_steps() -> Iterator[tuple[Decimal, int]]:
    """Whole steps and how many of them, so that the tops come in ascending order: 3, 4, 6, 8, …"""
    unit = Decimal(1)
    while True:
        for factor in ROUND_STEP_FACTORS:
            step = factor * unit
            if step == step.to_integral_value():
                yield step, 3
                yield step, 4
        unit *= 10


def thin_axis_ticks(
    ticks: list[AxisTick], apart: float = MIN_LABEL_GAP_PERCENT
) -> tuple[AxisTick, ...]:
    """As many of them as fit beside each other; the last one always stays, every second is
    minor."""
    kept: list[AxisTick] = []
    for tick in reversed(ticks):
        if not kept or kept[-1].x - tick.x >= apart:
            kept.append(tick)
    kept.reverse()
    last = len(kept) - 1
    return tuple(
        AxisTick(tick.x, tick.label, tick.anchor, tick.is_strong, is_minor=(last - place) % 2 == 1)
        for place, tick in enumerate(kept)
    )


def assign_member_tones(user_ids: Iterable[int]) -> dict[int, str]:
    """Colours in order of joining, for the members a chart tells apart."""
    return {
        user_id: SERIES_TONES[place] if place < len(SERIES_TONES) else OTHERS_TONE
        for place, user_id in enumerate(sorted(user_ids))
    }
