"""Past prices, the estimate and the hold on one line: components/price_range.html."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

# Positions of the lowest and the highest price, in percent of the width.
LOWEST_X_PERCENT, HIGHEST_X_PERCENT = 25.0, 81.25
# The baseline of the dots, the distance of stacked dots, and the height of the highest stack.
DOT_BASELINE_PX, DOT_STEP_PX, MAX_DOT_STACK_PX = 24, 8, 20
MIN_LABEL_GAP_PERCENT = 14.0  # labels closer than this would touch


@dataclass(frozen=True, slots=True)
class PriceDot:
    x: str
    y: int


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Past prices, the estimate and the hold on one line; x in percent."""

    dots: tuple[PriceDot, ...]
    low: Decimal
    high: Decimal
    low_x: str
    estimate_x: str
    hold_x: str
    shows_low_label: bool
    labels_overlap: bool


def build_price_range(
    costs: tuple[Decimal, ...], estimate: Decimal | None, hold: Decimal
) -> PriceRange | None:
    if not costs or estimate is None:
        return None
    low, high = min(*costs, estimate), max(*costs, hold)
    span = float(high - low) or 1.0

    def place(amount: Decimal) -> float:
        return (
            LOWEST_X_PERCENT + (HIGHEST_X_PERCENT - LOWEST_X_PERCENT) * float(amount - low) / span
        )

    at_estimate, at_hold = place(estimate), place(hold)
    return PriceRange(
        dots=stack_price_dots([place(cost) for cost in sorted(costs)]),
        low=min(costs),
        high=max(costs),
        low_x=percent_text(place(min(costs))),
        estimate_x=percent_text(at_estimate),
        hold_x=percent_text(at_hold),
        shows_low_label=abs(at_estimate - place(min(costs))) > MIN_LABEL_GAP_PERCENT,
        labels_overlap=at_hold - at_estimate < MIN_LABEL_GAP_PERCENT,
    )


def stack_price_dots(places: list[float]) -> tuple[PriceDot, ...]:
    """Stack equal prices, so that each dot is one render."""
    stacks = Counter(percent_text(place) for place in places)
    return tuple(
        PriceDot(
            x,
            DOT_BASELINE_PX
            - round(number * min(DOT_STEP_PX, MAX_DOT_STACK_PX / max(1, height - 1))),
        )
        for x, height in stacks.items()
        for number in range(height)
    )


def percent_text(place: float) -> str:
    return f"{place:.2f}%"
