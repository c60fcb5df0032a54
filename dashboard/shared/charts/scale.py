"""The vertical scale of a chart, always from 0 in three or four steps of a round number of credits,
and the colours of its series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

ROUND_STEP_FACTORS = (Decimal(1), Decimal(2), Decimal("2.5"), Decimal(5))
MIN_LABEL_GAP_PERCENT = 12.0  # of the width, for one date
SERIES_TONES = ("m1", "m2", "m3", "m4", "m6")
OTHERS_TONE = "m5"  # slate: all members from the sixth on
OUTSIDE_TONE = "outside"  # hatched grey, never a colour


@dataclass(frozen=True, slots=True)
class GridLine:
    """`y` in percent from the top; a line without a label is hidden on narrow cards."""

    y: float
    label: Decimal | None
    is_base: bool


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A label below the chart. `x` in percent; `anchor`: start | middle | end."""

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
        """Return the height in percent, clamped to 0 and the top."""
        return float(100 * min(max(amount, Decimal(0)), self.top) / self.top)

    def y(self, amount: Decimal) -> float:
        return 100 - self.height(amount)


def build_chart_scale(max_credits: Decimal) -> ChartScale:
    """Return the smallest scale that contains `most` credits."""
    step, count = next(
        (step, count) for step, count in iter_scale_steps() if step * count >= max_credits
    )
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
    """Yield step and number of steps in ascending order of their product: 3, 4, 6, 8, …"""
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
    """Keep as many ticks as fit, always the last one; every second one is minor."""
    fitting: list[AxisTick] = []
    for tick in reversed(ticks):
        if not fitting or fitting[-1].x - tick.x >= apart:
            fitting.append(tick)
    fitting.reverse()
    last = len(fitting) - 1
    return tuple(
        AxisTick(tick.x, tick.label, tick.anchor, tick.is_strong, is_minor=(last - index) % 2 == 1)
        for index, tick in enumerate(fitting)
    )


def assign_member_tones(user_ids: Iterable[int]) -> dict[int, str]:
    """Return a colour for each member, in the order of their ids."""
    return {
        user_id: SERIES_TONES[index] if index < len(SERIES_TONES) else OTHERS_TONE
        for index, user_id in enumerate(sorted(user_ids))
    }
