"""When the credits run out, and whether a batch fits: the forecast of one account."""

from __future__ import annotations

from dashboard.shared.forecast.outlook import (
    DailyHistory,
    build_simulated_account,
    build_top_up_offer,
    credits_per_top_up,
    load_credit_packs,
    load_daily_history,
    round_to_whole_credits,
)
