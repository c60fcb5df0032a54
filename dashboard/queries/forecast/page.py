"""The forecast page: when the credits of an account run out, what that assumes, and a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from dashboard.queries.accounts import AccountTab, tabs_of
from dashboard.queries.charts import Line
from dashboard.queries.forecast.assumptions import assumptions_of
from dashboard.queries.forecast.chart import chart_of
from dashboard.queries.forecast.outlook import Outlook, outlook_of
from dashboard.queries.forecast.standing import offer_of, packs_of, standing_of
from dashboard.queries.forecast.verdict import Verdict, Wish, verdict_of
from dashboard.queries.forecast.words import Range, note_of, range_of
from proxyapi.forecast import ForecastBand
from proxyapi.models import Account, AutoTopUp
from proxyapi.top_up import TopUpSetting, infer_top_up_state


@dataclass(frozen=True, slots=True)
class ForecastPage:
    account_id: UUID
    name: str
    note: str
    tabs: tuple[AccountTab, ...]
    range: Range
    balance: Decimal
    held: Decimal
    held_by_others: Decimal
    as_of: datetime | None
    chart: Line | None
    bands: tuple[ForecastBand, ...]
    assumptions: tuple[str, ...]
    verdict: Verdict | None

    @property
    def free(self) -> Decimal:
        return max(Decimal(0), self.balance - self.held)


def page_of(
    account: Account, accounts: Sequence[Account], wish: Wish | None = None
) -> ForecastPage:
    """Four queries; the account comes with its vault, its ledger and its top-up."""
    now, (held, held_by_others) = timezone.now(), account.held_by_all_and_others()
    row = getattr(account, "top_up", None)
    known = row if isinstance(row, AutoTopUp) and row.read_at else None
    setting = TopUpSetting.from_row(known) if known else TopUpSetting()
    inferred = infer_top_up_state(account, known, now)
    offer = offer_of(account, setting, packs_of(account))
    standing = standing_of(account, known, inferred, account.balance - held, now)
    outlook = outlook_of(account, standing, offer, inferred, now)
    return ForecastPage(
        account_id=account.pk,
        name=account.label,
        note=note_of(account, outlook),
        tabs=tabs_of("forecast", accounts, account),
        range=range_of(outlook),
        balance=account.balance,
        held=held,
        held_by_others=held_by_others,
        as_of=account.balance_as_of,
        chart=chart_of(account, outlook, offer),
        bands=shown_bands(outlook),
        assumptions=assumptions_of(account, outlook, setting, offer),
        verdict=verdict_of(standing, offer, now, wish) if wish else None,
    )


def shown_bands(outlook: Outlook) -> tuple[ForecastBand, ...]:
    """For the table: every third day."""
    return outlook.forecast.bands[::3] if outlook.forecast else ()
