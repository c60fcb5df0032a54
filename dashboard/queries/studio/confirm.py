"""The question before a render: its price among earlier real ones, what is held, what is left."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from dashboard.models import Membership
from dashboard.queries.budgets.line import Line, line_of
from dashboard.queries.studio.options import options_in
from dashboard.queries.studio.price import is_busy, price_of
from dashboard.queries.studio.steps import summary
from proxyapi import pricing
from proxyapi.models import Job, JobState

# Where the drawing puts its lowest and its highest number, in percent of its width.
LEFT, RIGHT = 25.0, 81.25
BASE, STACK, HIGH = 24, 8, 20  # px: the line the dots stand on, their steps, the highest pile
NEAR = 14.0  # percent: labels closer than this would touch


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: int


@dataclass(frozen=True, slots=True)
class Range:
    """Earlier prices, the estimate and the hold on one line; x in percent."""

    dots: tuple[Dot, ...]
    low: Decimal
    high: Decimal
    low_x: str
    estimate_x: str
    hold_x: str
    low_label: bool
    crowded: bool


@dataclass(frozen=True, slots=True)
class Confirm:
    job_id: UUID
    title: str
    summary: str
    ready: bool
    sent: bool  # somebody else, or another tab, was faster
    estimate: Decimal | None
    hold: Decimal
    balance: Decimal
    held: Decimal
    held_by_others: Decimal
    range: Range | None
    nonce: UUID
    budget: Line | None = None
    refusal: str = ""
    unmet: tuple[str, ...] = ()  # its needs; while there are any, nothing can be sent

    @property
    def over(self) -> bool:
        """Whether the budget refuses it, so that it can only be asked for."""
        return self.ready and not self.sent and self.budget is not None and bool(self.budget.over)

    @property
    def free(self) -> Decimal:
        return self.balance - self.held

    @property
    def left(self) -> Decimal:
        """What stays free, at least: the hold is an upper bound."""
        return self.free - self.hold


def confirm_of(
    job: Job, reader: Membership, refusal: str = "", nonce: UUID | None = None
) -> Confirm:
    """At most ten queries, five of them where budgets bind. A refused form keeps its nonce: it
    charged nothing and cannot charge twice."""
    price, (held, held_by_others) = price_of(job), job.account.held_by_all_and_others()
    hold = pricing.hold_for_estimate(price.estimate) if price.estimate is not None else Decimal(0)
    return Confirm(
        job_id=job.pk,
        title=job.title,
        summary=summary(job, options_in(job.account.options)),
        ready=price.ready,
        sent=job.state != JobState.DRAFT or is_busy(job),
        estimate=price.estimate,
        hold=hold,
        balance=job.account.balance,
        held=held,
        held_by_others=held_by_others,
        range=range_of(price.spent.costs, price.estimate, hold),
        nonce=nonce or uuid.uuid4(),
        budget=line_of(reader, hold),
        refusal=refusal,
        unmet=tuple(need.label for need in price.needs if not need.done),
    )


def range_of(costs: tuple[Decimal, ...], estimate: Decimal | None, hold: Decimal) -> Range | None:
    if not costs or estimate is None:
        return None
    low, high = min(*costs, estimate), max(*costs, hold)
    span = float(high - low) or 1.0

    def place(amount: Decimal) -> float:
        return LEFT + (RIGHT - LEFT) * float(amount - low) / span

    at_estimate, at_hold = place(estimate), place(hold)
    return Range(
        dots=dots_of([place(cost) for cost in sorted(costs)]),
        low=min(costs),
        high=max(costs),
        low_x=percent(place(min(costs))),
        estimate_x=percent(at_estimate),
        hold_x=percent(at_hold),
        low_label=abs(at_estimate - place(min(costs))) > NEAR,
        crowded=at_hold - at_estimate < NEAR,
    )


def dots_of(places: list[float]) -> tuple[Dot, ...]:
    """Equal prices stand on each other, so that each dot is one render."""
    piles = Counter(percent(place) for place in places)
    return tuple(
        Dot(x, BASE - round(number * min(STACK, HIGH / max(1, most - 1))))
        for x, most in piles.items()
        for number in range(most)
    )


def percent(place: float) -> str:
    return f"{place:.2f}%"
