"""The forecast page: when the credits of an account run out, what that assumes, and a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from dashboard.forecast.queries.affordability import BatchInput, BatchVerdict, build_batch_verdict
from dashboard.forecast.queries.assumptions import build_forecast_assumptions
from dashboard.forecast.queries.chart import build_forecast_chart
from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.charts import LineChart
from dashboard.shared.forecast.inputs import (
    build_simulated_account,
    build_top_up_offer,
    load_credit_packs,
)
from dashboard.shared.forecast.outlook import AccountForecast, build_account_forecast
from dashboard.shared.forecast.wording import RunOutRange, build_run_out_range, forecast_note
from proxyapi.forecast import ForecastBand
from proxyapi.models import Account, AutoTopUp
from proxyapi.top_up import TopUpSetting, infer_top_up_state


@dataclass(frozen=True, slots=True)
class ForecastPage:
    account_id: UUID
    name: str
    note: str
    tabs: tuple[AccountTab, ...]
    range: RunOutRange
    balance: Decimal
    held: Decimal
    held_by_others: Decimal
    as_of: datetime | None
    chart: LineChart | None
    bands: tuple[ForecastBand, ...]
    assumptions: tuple[str, ...]
    verdict: BatchVerdict | None

    @property
    def free(self) -> Decimal:
        return max(Decimal(0), self.balance - self.held)


def build_forecast_page(
    account: Account, accounts: Sequence[Account], wish: BatchInput | None = None
) -> ForecastPage:
    """Four queries; the account comes with its tenant, its ledger and its top-up."""
    now, (held, held_by_others) = timezone.now(), account.held_by_all_and_others()
    row = getattr(account, "top_up", None)
    known = row if isinstance(row, AutoTopUp) and row.read_at else None
    setting = TopUpSetting.from_row(known) if known else TopUpSetting()
    inferred = infer_top_up_state(account, known, now)
    offer = build_top_up_offer(account, setting, load_credit_packs(account))
    standing = build_simulated_account(account, known, inferred, account.balance - held, now)
    outlook = build_account_forecast(account, standing, offer, inferred, now)
    return ForecastPage(
        account_id=account.pk,
        name=account.label,
        note=forecast_note(account, outlook),
        tabs=build_account_tabs("forecast", accounts, account),
        range=build_run_out_range(outlook),
        balance=account.balance,
        held=held,
        held_by_others=held_by_others,
        as_of=account.balance_as_of,
        chart=build_forecast_chart(account, outlook, offer),
        bands=sample_table_bands(outlook),
        assumptions=build_forecast_assumptions(account, outlook, setting, offer),
        verdict=build_batch_verdict(standing, offer, now, wish) if wish else None,
    )


def sample_table_bands(outlook: AccountForecast) -> tuple[ForecastBand, ...]:
    """For the table: every third day."""
    return outlook.forecast.bands[::3] if outlook.forecast else ()
