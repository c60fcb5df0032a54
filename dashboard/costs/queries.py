"""Queries of the costs page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.roles import Permission
from dashboard.shared.team_balance import all_team_accounts
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from proxyapi.models import Account, MonthlyPriceCount, Tenant
from proxyapi.operations import FACELESS_RENDER_OPERATIONS, get_operation
from proxyapi.rollups.price_counts import PRICE_COLUMNS, previous_month, utc_month_of
from proxyapi.upstream import response_parsing


@dataclass(frozen=True, slots=True)
class EstimateAccuracy:
    """`scale_percent` is the value at both ends of the scale; `margin` is the percentage that a
    hold adds to an estimate; `since` is the first day in UTC."""

    estimates: tuple[EstimateError, ...]
    scale_percent: int
    margin: int
    since: date


@dataclass(frozen=True, slots=True)
class CostsPage:
    """`prices` belong to one account, `paid` to the team."""

    account: Account
    may_set_credit_price: bool
    tabs: tuple[AccountTab, ...]
    prices: tuple[ListPrice, ...]
    read_at: datetime | None
    paid: tuple[ActualCost, ...]
    estimate_accuracy: EstimateAccuracy

    @property
    def has_free(self) -> bool:
        return any(price.free for price in self.prices)

    @property
    def total(self) -> Decimal:
        return sum((actual_cost.total for actual_cost in self.paid), Decimal(0))


def accounts_with_cost_maps(tenant: Tenant) -> QuerySet[Account]:
    """The team's accounts with their cost maps."""
    return all_team_accounts(tenant).defer(None).defer("options")


def build_costs_page(
    reader: Membership, accounts: Sequence[Account], account_id: str
) -> CostsPage | None:
    """One query. `account_id` is the UUID, as text, of the account whose price list is shown."""
    if not accounts:
        return None
    account = next(
        (candidate for candidate in accounts if str(candidate.pk) == account_id), accounts[0]
    )
    since = costs_period_start()
    rows = load_cost_counts([team_account.pk for team_account in accounts], since)
    return CostsPage(
        account=account,
        may_set_credit_price=has_permission(reader, Permission.MANAGE_MONEY),
        tabs=build_account_tabs("costs", accounts, account),
        prices=tuple(build_list_prices(account.costs)),
        read_at=account.refreshed_at,
        paid=tuple(build_actual_costs(rows)),
        estimate_accuracy=build_estimate_accuracy(rows, since),
    )


def costs_period_start() -> date:
    """The first day of the previous month, so that there are costs on the first of a month as
    well."""
    return previous_month(utc_month_of(timezone.now()))


def load_estimate_accuracy(accounts: Sequence[Account]) -> EstimateAccuracy:
    """One query."""
    since = costs_period_start()
    return build_estimate_accuracy(
        load_cost_counts([account.pk for account in accounts], since), since
    )


def build_estimate_accuracy(rows: Sequence[CostCountRow], since: date) -> EstimateAccuracy:
    estimates, scale_end = build_estimate_errors(rows)
    return EstimateAccuracy(
        estimates, scale_end, round(100 * (float(settings.HOLD_MARGIN) - 1)), since
    )


SCALE_STEP_PERCENT, MIN_SCALE_PERCENT = 10, 20
TAIL_SHARE = Decimal("0.05")  # share of the charges below the span, and above it


class CostCountRow(NamedTuple):
    operation: str
    type: str
    quote: Decimal
    cost: Decimal
    times: int

    @property
    def name(self) -> str:
        """`Render, AI visuals`: the price of a render depends on its type."""
        feature = feature_label(self.operation)
        type_label = (
            FACELESS_TYPE_LABELS.get(self.type)
            if self.operation in FACELESS_RENDER_OPERATIONS
            else None
        )
        return f"{feature}, {type_label}" if type_label and type_label not in feature else feature


@dataclass(frozen=True, slots=True)
class ActualCost:
    """Credits per use. `free` counts uses without a cost, which no other figure includes."""

    name: str
    count: int
    free: int
    median: Decimal | None
    low: Decimal | None
    high: Decimal | None
    total: Decimal

    @property
    def is_fixed(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class EstimateError:
    """The deviation of the cost from the estimate in percent: 90 % of the charges are between `low`
    and `high`. `x` and `width` are in percent of the scale."""

    name: str
    count: int
    low: int
    high: int
    x: float
    width: float

    @property
    def range_text(self) -> str:
        if self.low == self.high == 0:
            return "exact"
        return (
            f"{signed_percent_text(self.low)} %"
            if self.low == self.high
            else (f"{signed_percent_text(self.low)} to {signed_percent_text(self.high)} %")
        )


def load_cost_counts(accounts: Collection[UUID], since: date) -> list[CostCountRow]:
    """Charged and not refunded uses since the month `since`. One query."""
    counts = MonthlyPriceCount.objects.filter(account__in=accounts, month__gte=since, times__gt=0)
    rows = counts.order_by().values_list(*PRICE_COLUMNS).annotate(times=Sum("times"))
    return [CostCountRow(*row) for row in rows]


def build_actual_costs(rows: Iterable[CostCountRow]) -> Iterator[ActualCost]:
    """By feature, highest total first."""
    costs: dict[str, Counter[Decimal]] = defaultdict(Counter)
    for row in rows:
        costs[row.name][row.cost] += row.times
    actual_costs = [build_actual_cost(name, counts) for name, counts in costs.items()]
    yield from sorted(actual_costs, key=lambda actual_cost: (-actual_cost.total, actual_cost.name))


def build_actual_cost(name: str, costs: Counter[Decimal]) -> ActualCost:
    free_count = costs.pop(Decimal(0), 0)
    return ActualCost(
        name=name,
        count=sum(costs.values()),
        free=free_count,
        median=median_cost(costs),
        low=min(costs, default=None),
        high=max(costs, default=None),
        total=sum((cost * count for cost, count in costs.items()), Decimal(0)),
    )


def median_cost(costs: Counter[Decimal]) -> Decimal | None:
    """The median; for an even count the mean of the two middle values."""
    count = sum(costs.values())
    if not count:
        return None
    ordered = sorted(costs)
    return (
        nth_counted_value(ordered, costs, (count - 1) // 2)
        + nth_counted_value(ordered, costs, count // 2)
    ) / 2


def nth_counted_value(ordered: list[Decimal], costs: Counter[Decimal], index: int) -> Decimal:
    """The value at `index` of all values in ascending order."""
    for value in ordered:
        if index < costs[value]:
            return value
        index -= costs[value]
    return ordered[-1]


def build_estimate_errors(rows: Iterable[CostCountRow]) -> tuple[tuple[EstimateError, ...], int]:
    """By feature, most frequent first; and the percentage at the ends of their common scale."""
    misses: dict[str, Counter[Decimal]] = defaultdict(Counter)
    for row in rows:
        is_exact = get_operation(row.operation).price.exact
        if row.quote and row.cost and not is_exact:
            misses[row.name][100 * (row.cost - row.quote) / row.quote] += row.times
    spans = {name: error_span_percent(counts) for name, counts in misses.items()}
    scale_end = round_up_to_scale(max(map(abs, span)) for span in spans.values())
    errors = [
        EstimateError(
            name=name,
            count=sum(misses[name].values()),
            low=low,
            high=high,
            x=min(98.8, 50 + 50 * low / scale_end),
            width=max(1.2, 50 * (high - low) / scale_end),
        )
        for name, (low, high) in spans.items()
    ]
    return tuple(sorted(errors, key=lambda error: (-error.count, error.name))), scale_end


def error_span_percent(misses: Counter[Decimal]) -> tuple[int, int]:
    """Whole percentages that enclose 90 % of the charges, rounded away from 0."""
    ordered, count = sorted(misses), sum(misses.values())
    cut = int(count * TAIL_SHARE)
    low, high = (
        nth_counted_value(ordered, misses, cut),
        nth_counted_value(ordered, misses, count - 1 - cut),
    )
    return round_away_from_zero(low), round_away_from_zero(high)


def round_away_from_zero(percent: Decimal) -> int:
    magnitude = int(abs(percent).to_integral_value(rounding=ROUND_CEILING))
    return magnitude if percent > 0 else -magnitude


def round_up_to_scale(most: Iterable[int]) -> int:
    return max(
        MIN_SCALE_PERCENT, -(-max(most, default=0) // SCALE_STEP_PERCENT) * SCALE_STEP_PERCENT
    )


def signed_percent_text(percent: int) -> str:
    if percent == 0:
        return "0"
    return f"+{percent}" if percent > 0 else f"\N{MINUS SIGN}{-percent}"


COST_KEY_NAMES = {
    "CONTENT_PROMPT_REQUESTED": "Script",
    "IDEA_DISCOVERY": "Idea search",
    "IDEAS_DISCOVER": "Idea search",
    "CHARACTER_TRAIN": "Character training",
    "CHARACTER_TRAINING": "Character training",
    "CHARACTER_PREVIEW": "Character preview",
    "VOICE_CLONE_SLOT": "Voice clone slot",
}


@dataclass(frozen=True, slots=True)
class ListPrice:
    """`credits` per use, None if unreadable. The first `free` uses cost nothing."""

    name: str
    key: str
    credits: Decimal | None
    free: int


def build_list_prices(costs: Mapping[str, object]) -> Iterator[ListPrice]:
    """Sorted by name; the case of the keys varies between accounts."""
    prices = []
    for key, value in costs.items():
        row = response_parsing.as_mapping(value)
        free = response_parsing.parse_credit_amount(row.get("free"))
        prices.append(
            ListPrice(
                cost_key_name(key),
                key,
                response_parsing.parse_credit_amount(row.get("credits")),
                int(free) if free else 0,
            )
        )
    yield from sorted(prices, key=lambda price: price.name.casefold())


def cost_key_name(key: str) -> str:
    words = re.split(r"[\s_-]+", key.strip(" _-").capitalize())
    return COST_KEY_NAMES.get(key.upper()) or " ".join(
        "AI" if word in ("Ai", "ai") else word for word in words
    )
