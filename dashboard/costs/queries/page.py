"""The costs page of a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.costs.queries.actual_costs import (
    ActualCost,
    CostCountRow,
    EstimateError,
    build_actual_costs,
    build_estimate_errors,
    load_cost_counts,
)
from dashboard.costs.queries.price_list import ListPrice, build_list_prices
from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.team_balance import all_team_accounts
from proxyapi.models import Account, Tenant
from proxyapi.rollups.price_counts import previous_month, utc_month_of


@dataclass(frozen=True, slots=True)
class EstimateAccuracy:
    """`ends`: percent at both ends of the estimates' scale; `margin`: percent held above one;
    `since`: the first day, of UTC."""

    estimates: tuple[EstimateError, ...]
    scale_percent: int
    margin: int
    since: date


@dataclass(frozen=True, slots=True)
class CostsPage:
    """The list is one account's, what was paid is the team's."""

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
        return sum((one.total for one in self.paid), Decimal(0))


def accounts_with_cost_maps(tenant: Tenant) -> QuerySet[Account]:
    """The team's accounts with their cost maps."""
    return all_team_accounts(tenant).defer(None).defer("options")


def build_costs_page(accounts: Sequence[Account], wanted: str) -> CostsPage | None:
    """One query. `wanted` is an account's id, for its list; what was paid is the team's."""
    if not accounts:
        return None
    account = next((one for one in accounts if str(one.pk) == wanted), accounts[0])
    since = costs_period_start()
    rows = load_cost_counts([one.pk for one in accounts], since)
    return CostsPage(
        tabs=build_account_tabs("costs", accounts, account),
        prices=tuple(build_list_prices(account.costs)),
        read_at=account.refreshed_at,
        paid=tuple(build_actual_costs(rows)),
        estimate_accuracy=build_estimate_accuracy(rows, since),
    )


def costs_period_start() -> date:
    """The first day of the last month: on the first of a month there is something to tell, too."""
    return previous_month(utc_month_of(timezone.now()))


def load_estimate_accuracy(accounts: Sequence[Account]) -> EstimateAccuracy:
    """How close the estimates were, alone. One query."""
    since = costs_period_start()
    return build_estimate_accuracy(load_cost_counts([one.pk for one in accounts], since), since)


def build_estimate_accuracy(rows: Sequence[CostCountRow], since: date) -> EstimateAccuracy:
    estimates, ends = build_estimate_errors(rows)
    return EstimateAccuracy(estimates, ends, round(100 * (float(settings.HOLD_MARGIN) - 1)), since)
