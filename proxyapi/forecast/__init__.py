"""When the credits run out, whether a batch fits, and what another top-up setting would have done.

Pure arithmetic: no upstream request, no database, no clock. The rules are the upstream's (spec,
Limits: auto top-up), written once in `top_up_rules` and tested against the sandbox's own.
"""

from __future__ import annotations

from proxyapi.forecast.batch_affordability import BatchAnswer, BatchForecast, forecast_batch
from proxyapi.forecast.day_simulation import DailyCredits, DayResult, simulate_day
from proxyapi.forecast.replay import (
    CreditMovement,
    ReplayPoint,
    TopUpReplay,
    UncoveredSpend,
    replay_days,
    replay_movements,
)
from proxyapi.forecast.run_out import ForecastBand, ForecastStart, RunOutForecast, forecast_run_out
from proxyapi.forecast.spending_pattern import SpendingPattern, build_spending_pattern
from proxyapi.forecast.top_up_rules import SimulatedAccount, SpendOutcome, TopUpOffer
