"""The costs page of a team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.queries.costs.paid import Estimate, Paid, estimates_of, paid_of, rows_of
from dashboard.queries.costs.prices import Price, prices_of
from dashboard.queries.purse import accounts_of
from proxyapi.models import Account, Vault

DAYS = 90


@dataclass(frozen=True, slots=True)
class Choice:
    """An account of the team."""

    name: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class Page:
    """`ends`: percent at both ends of the estimates' scale; `margin`: percent held above one."""

    choices: tuple[Choice, ...]
    prices: tuple[Price, ...]
    read_at: datetime | None
    paid: tuple[Paid, ...]
    estimates: tuple[Estimate, ...]
    ends: int
    margin: int
    days: int = DAYS

    @property
    def has_free(self) -> bool:
        return any(price.free for price in self.prices)

    @property
    def total(self) -> Decimal:
        return sum((one.total for one in self.paid), Decimal(0))


def priced(vault: Vault) -> QuerySet[Account]:
    """The team's accounts with their cost maps."""
    return accounts_of(vault).defer(None).defer("options").order_by("created_at", "pk")


def page_of(reader: Membership, accounts: Sequence[Account], wanted: str) -> Page | None:
    """One query. `wanted` is an account's id, for its list; what was paid is the team's."""
    if not accounts:
        return None
    account = next((one for one in accounts if str(one.pk) == wanted), accounts[0])
    rows = rows_of(reader.team.vault_id, timezone.now() - timedelta(days=DAYS))
    estimates, ends = estimates_of(rows)
    return Page(
        choices=choices_of(accounts, account),
        prices=tuple(prices_of(account.costs)),
        read_at=account.refreshed_at,
        paid=tuple(paid_of(rows)),
        estimates=estimates,
        ends=ends,
        margin=round(100 * (float(settings.HOLD_MARGIN) - 1)),
    )


def choices_of(accounts: Sequence[Account], chosen: Account) -> tuple[Choice, ...]:
    """Empty where there is nothing to choose."""
    if len(accounts) < 2:
        return ()
    return tuple(
        Choice(one.name or one.email, f"{reverse('costs')}?account={one.pk}", one.pk == chosen.pk)
        for one in accounts
    )
