"""The question before a render: its price among earlier real ones, what is held, what is left."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
from dashboard.shared.video_options import parse_faceless_options
from dashboard.studio.queries.price import build_draft_price, has_active_render
from dashboard.studio.queries.steps import draft_summary
from proxyapi import pricing
from proxyapi.models import Job, JobState

# Where the drawing puts its lowest and its highest number, in percent of its width.
LOWEST_X_PERCENT, HIGHEST_X_PERCENT = 25.0, 81.25
DOT_BASELINE_PX, DOT_STEP_PX, MAX_DOT_STACK_PX = (
    24,
    8,
    20,
)  # px: the line the dots stand on, their steps, the highest pile
MIN_LABEL_GAP_PERCENT = 14.0  # percent: labels closer than this would touch


@dataclass(frozen=True, slots=True)
class PriceDot:
    x: str
    y: int


@dataclass(frozen=True, slots=True)
class PriceRange:
    """Earlier prices, the estimate and the hold on one line; x in percent."""

    dots: tuple[PriceDot, ...]
    low: Decimal
    high: Decimal
    low_x: str
    estimate_x: str
    hold_x: str
    shows_low_label: bool
    labels_overlap: bool


@dataclass(frozen=True, slots=True)
class RenderConfirmation:
    job_id: UUID
    title: str
    summary: str
    ready: bool
    already_sent: bool  # somebody else, or another tab, was faster
    estimate: Decimal | None
    hold: Decimal
    balance: Decimal
    held: Decimal
    held_by_others: Decimal
    price_range: PriceRange | None
    nonce: UUID
    budget: BudgetImpact | None = None
    refusal: str = ""
    unmet: tuple[str, ...] = ()  # its needs; while there are any, nothing can be sent

    @property
    def is_over_budget(self) -> bool:
        """Whether the budget refuses it, so that it can only be asked for."""
        return (
            self.ready
            and not self.already_sent
            and self.budget is not None
            and bool(self.budget.refusal)
        )

    @property
    def available(self) -> Decimal:
        return self.balance - self.held

    @property
    def remaining(self) -> Decimal:
        """What stays free, at least: the hold is an upper bound."""
        return self.available - self.hold


def build_render_confirmation(
    job: Job, reader: Membership, refusal: str = "", nonce: UUID | None = None
) -> RenderConfirmation:
    """At most ten queries, five of them where budgets bind. A refused form keeps its nonce: it
    charged nothing and cannot charge twice."""
    price, (held, held_by_others) = build_draft_price(job), job.account.held_by_all_and_others()
    hold = pricing.hold_for_estimate(price.estimate) if price.estimate is not None else Decimal(0)
    return RenderConfirmation(
        job_id=job.pk,
        title=job.title,
        summary=draft_summary(job, parse_faceless_options(job.account.options)),
        ready=price.ready,
        already_sent=job.state != JobState.DRAFT or has_active_render(job),
        estimate=price.estimate,
        hold=hold,
        balance=job.account.balance,
        held=held,
        held_by_others=held_by_others,
        price_range=build_price_range(price.past_prices.costs, price.estimate, hold),
        nonce=nonce or uuid.uuid4(),
        budget=build_budget_impact(reader, hold),
        refusal=refusal,
        unmet=tuple(need.label for need in price.requirements if not need.done),
    )


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
    """Equal prices stand on each other, so that each dot is one render."""
    piles = Counter(percent_text(place) for place in places)
    return tuple(
        PriceDot(
            x,
            DOT_BASELINE_PX - round(number * min(DOT_STEP_PX, MAX_DOT_STACK_PX / max(1, most - 1))),
        )
        for x, most in piles.items()
        for number in range(most)
    )


def percent_text(place: float) -> str:
    return f"{place:.2f}%"
