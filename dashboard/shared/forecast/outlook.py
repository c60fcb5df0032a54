"""An account's forecast with what it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from dashboard.shared.forecast.daily_history import (
    DailyHistory,
    load_daily_history,
    round_to_whole_credits,
)
from proxyapi.forecast import (
    ForecastStart,
    RunOutForecast,
    SimulatedAccount,
    SpendingPattern,
    TopUpOffer,
    build_spending_pattern,
    forecast_run_out,
)
from proxyapi.forecast.replay import round_up_credits
from proxyapi.forecast.run_out import count_cooldown_days
from proxyapi.forecast.spending_pattern import PATTERN_WEEKS
from proxyapi.models import Account
from proxyapi.top_up import InferredTopUpState


@dataclass(frozen=True, slots=True)
class AccountForecast:
    """`forecast` is None with too few days; `alone` is the one as if no top-up came."""

    today: date
    history: DailyHistory
    pattern: SpendingPattern
    forecast: RunOutForecast | None = None
    without_top_up: RunOutForecast | None = None
    renews_on: date | None = None


def build_account_forecast(
    account: Account,
    standing: SimulatedAccount,
    offer: TopUpOffer | None,
    inferred: InferredTopUpState,
    now: datetime,
) -> AccountForecast:
    """One query, two of quiet days. A pack that nobody described counts as no top-up."""
    zone = account.tenant.zone
    today = now.astimezone(zone).date()
    ledger = load_daily_history(account, today, 7 * PATTERN_WEEKS)
    pattern = build_spending_pattern(ledger.days, ledger.first_full_day or today, today)
    ends = account.plan_ends_at
    renews_on = ends.astimezone(zone).date() if ends and ends > now else None
    if not pattern.has_enough_days:
        return AccountForecast(today, ledger, pattern, renews_on=renews_on)
    seed, free = f"{account.pk} {today}", round_to_whole_credits(standing.balance)
    alone = forecast_run_out(ForecastStart(today, free), pattern, seed)
    forecast = alone
    if offer is not None and offer.enabled:
        start = ForecastStart(
            on=today,
            balance=free,
            threshold=round_up_credits(offer.threshold),
            credits_per_top_up=round_to_whole_credits(offer.credits),
            top_ups_today=inferred.successes_today,
            cooldown_days=count_cooldown_days(inferred.cooldown_until, now),
        )
        forecast = forecast_run_out(start, pattern, seed)
    return AccountForecast(today, ledger, pattern, forecast, alone, renews_on)
