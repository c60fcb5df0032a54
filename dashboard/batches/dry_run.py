"""The dry run of a batch: what each row costs, all of them together, and when they are done.

Nothing is sent. Prices are a range, from what renders like it cost the team; `limit` is what a row
may cost at most, with which the batch is confirmed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from statistics import median_low

from django.utils import timezone

from dashboard.batches.row_checks import (
    RowCheck,
    RowProblem,
    RowRules,
    mark_duplicates,
    paid_script,
)
from dashboard.models import Batch, BatchRow, Membership
from dashboard.shared.member_token import require_member_token
from dashboard.studio.flows import FLOWS
from dashboard.studio.queries.past_costs import PastCosts, expected_render_cost, load_past_costs
from dashboard.studio.queries.planned_render import LENGTH_MARGIN
from proxyapi import pricing
from proxyapi.models import Charge, Job, JobKind, Token
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.duration_class import length_class_of
from proxyapi.operations import SCRIPT_OPERATIONS
from proxyapi.polling.duration_history import DurationHistory

MAX_READ_SCRIPTS = 20
NO_PAST_PRICE = (
    "No video like this was rendered yet, so nobody knows what it costs. Render one in the studio "
    "first."
)
WHOLE = Decimal(1)


@dataclass(frozen=True, slots=True)
class PriceSpan:
    """Credits: the lowest, the usual and the highest price, and what is spent at most. `is_guess`:
    from renders of another length."""

    low: Decimal = Decimal(0)
    usual: Decimal = Decimal(0)
    high: Decimal = Decimal(0)
    limit: Decimal = Decimal(0)
    is_guess: bool = False

    def __add__(self, other: PriceSpan) -> PriceSpan:
        return PriceSpan(
            self.low + other.low,
            self.usual + other.usual,
            self.high + other.high,
            self.limit + other.limit,
            self.is_guess or other.is_guess,
        )


@dataclass(slots=True)
class DryRun:
    """`prices` and `seconds` are by row number, for each row that is ready; a duration that is not
    known is missing."""

    token: Token
    checks: list[RowCheck]
    script_price: Decimal
    prices: dict[int, PriceSpan] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def ready(self) -> list[RowCheck]:
        return [check for check in self.checks if check.status == "ready"]

    @property
    def total(self) -> PriceSpan:
        return sum((self.prices[check.row.number] for check in self.ready), PriceSpan())

    @property
    def largest_limit(self) -> Decimal:
        """Return what the most expensive row may hold at once."""
        limits = (self.prices[check.row.number].limit for check in self.ready)
        return max(limits, default=Decimal(0))

    def duration_s(self, at_once: int) -> float | None:
        """Return how long the ready rows take; None if that is not known of one of them."""
        known = [self.seconds.get(check.row.number) for check in self.ready]
        return None if None in known or not known else schedule(filter(None, known), at_once)

    def finished_at(self, at_once: int) -> datetime | None:
        duration = self.duration_s(at_once)
        return None if duration is None else timezone.now() + timedelta(seconds=duration)


def load_dry_run(by: Membership, batch: Batch, rows: Sequence[BatchRow]) -> DryRun:
    """Check and price rows as `by` would make them; rows that have failed as a retry, with their
    jobs and drafts. The number of queries does not depend on the number of rows. Raises
    `TokenRefused` without a token."""
    token = require_member_token(by)
    rules = RowRules(by, token, batch)
    checks = [rules.check(row) for row in rows]
    for check in checks:
        if check.row.job is not None:
            check.written_script = paid_script(check, check.row.job)
    if batch.is_draft:
        mark_duplicates(batch, checks)
    run = DryRun(token, checks, pricing.script_credits(token.account))
    costs, durations = load_past_costs(by.team.tenant), RowDurations(token)
    for check in checks:
        if check.problems:
            continue
        number = check.row.number
        if price := price_row(check, costs, rules, run.script_price):
            run.prices[number] = price
        else:
            check.problems.append(RowProblem(NO_PAST_PRICE))
        if seconds := durations.usual_s(check):
            run.seconds[number] = seconds
    return run


def price_row(
    check: RowCheck, costs: PastCosts, rules: RowRules, script_price: Decimal
) -> PriceSpan | None:
    """Return the price of a row that has no problem; None if nobody could name an upper bound."""
    renders, is_guess = render_costs(check, costs, rules)
    if not renders:
        return None
    operation = FLOWS[str(check.settings["type"])].script_operation
    script = script_price if check.needs_script else Decimal(0)
    script_hold = pricing.hold_for_operation(operation, script) if script else Decimal(0)
    return PriceSpan(
        low=min(renders) + script,
        usual=median_low(renders) + script,
        high=max(renders) + script,
        limit=pricing.hold_for_estimate(max(renders) * LENGTH_MARGIN) + script_hold,
        is_guess=is_guess,
    )


def render_costs(
    check: RowCheck, costs: PastCosts, rules: RowRules
) -> tuple[tuple[Decimal, ...], bool]:
    """Return what renders like it cost, for a script that is to be written those of the same
    request; else those of another length by the second, else the price of its clip engine; and
    whether that is a guess."""
    if check.needs_script and (past := costs.for_request(check.settings, check.seconds)):
        return past.costs, False
    if past := costs.exact_length(check.settings, check.seconds):
        return past.costs, False
    if rate := expected_render_cost(costs, check.settings, check.seconds, rules.options):
        return (rate,), False
    if past := costs.best_known(check.settings, check.seconds):
        factor = Decimal(length_class_of(check.seconds)) / past.length_s
        scaled = ((cost * factor).quantize(WHOLE, ROUND_CEILING) for cost in past.costs)
        return tuple(scaled), True
    return (), False


class RowDurations:
    """How long rows take: the team's usual render of the type and length, and a written script."""

    def __init__(self, token: Token) -> None:
        self.account = token.account
        self.history = DurationHistory((JobKind.FACELESS,), token.tenant_id)
        scripts = Charge.objects.filter(
            tenant=token.tenant_id, operation__in=SCRIPT_OPERATIONS, state__in=CHARGED_STATES
        ).exclude(sent_at=None)
        times = scripts.order_by("-settled_at").values_list("sent_at", "settled_at")
        taken = [
            (end - start).total_seconds()
            for start, end in times[:MAX_READ_SCRIPTS]
            if start and end
        ]
        self.script_s = median_low(taken) if taken else 0.0
        self.known: dict[tuple[str, int], float | None] = {}

    def usual_s(self, check: RowCheck) -> float | None:
        key = str(check.settings["type"]), length_class_of(check.seconds)
        if key not in self.known:
            alike = Job(account=self.account, kind=JobKind.FACELESS, subtype=key[0], length=key[1])
            usual = self.history.usual_for(alike)
            band = [one for one in (usual.low, usual.high) if one is not None]
            self.known[key] = sum(band) / len(band) if band else usual.last
        render = self.known[key]
        return None if render is None else render + (self.script_s if check.needs_script else 0)


def schedule(seconds: Iterable[float], at_once: int) -> float:
    """Return when the last of these ends, if they begin in this order, at most `at_once` at a
    time."""
    ends = [0.0] * at_once
    for one in seconds:
        heapq.heapreplace(ends, ends[0] + one)
    return max(ends)
