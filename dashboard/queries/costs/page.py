"""The costs page of a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.queries.accounts import AccountTab, tabs_of
from dashboard.queries.costs.paid import Estimate, Paid, Row, estimates_of, paid_of, rows_of
from dashboard.queries.costs.prices import Price, prices_of
from dashboard.queries.purse import known_accounts_of
from proxyapi.models import Account, Vault
from proxyapi.rollups.price_counts import previous_month, utc_month_of


@dataclass(frozen=True, slots=True)
class Closeness:
    """`ends`: percent at both ends of the estimates' scale; `margin`: percent held above one;
    `since`: the first day, of UTC."""

    estimates: tuple[Estimate, ...]
    ends: int
    margin: int
    since: date


@dataclass(frozen=True, slots=True)
class Page:
    """The list is one account's, what was paid is the team's."""

    tabs: tuple[AccountTab, ...]
    prices: tuple[Price, ...]
    read_at: datetime | None
    paid: tuple[Paid, ...]
    closeness: Closeness

    @property
    def has_free(self) -> bool:
        return any(price.free for price in self.prices)

    @property
    def total(self) -> Decimal:
        return sum((one.total for one in self.paid), Decimal(0))


def priced(vault: Vault) -> QuerySet[Account]:
    """The team's accounts with their cost maps."""
    return known_accounts_of(vault).defer(None).defer("options")


def page_of(accounts: Sequence[Account], wanted: str) -> Page | None:
    """One query. `wanted` is an account's id, for its list; what was paid is the team's."""
    if not accounts:
        return None
    account = next((one for one in accounts if str(one.pk) == wanted), accounts[0])
    since = since_when()
    rows = rows_of([one.pk for one in accounts], since)
    return Page(
        tabs=tabs_of("costs", accounts, account),
        prices=tuple(prices_of(account.costs)),
        read_at=account.refreshed_at,
        paid=tuple(paid_of(rows)),
        closeness=closeness_from(rows, since),
    )


def since_when() -> date:
    """The first day of the last month: on the first of a month there is something to tell, too."""
    return previous_month(utc_month_of(timezone.now()))


def closeness_of(accounts: Sequence[Account]) -> Closeness:
    """How close the estimates were, alone. One query."""
    since = since_when()
    return closeness_from(rows_of([one.pk for one in accounts], since), since)


def closeness_from(rows: Sequence[Row], since: date) -> Closeness:
    estimates, ends = estimates_of(rows)
    return Closeness(estimates, ends, round(100 * (float(settings.HOLD_MARGIN) - 1)), since)
