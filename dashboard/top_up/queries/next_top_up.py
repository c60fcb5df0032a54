"""When the next top-up is to be expected: the day the balance is likely to fall under the
threshold."""

from __future__ import annotations

from datetime import date

from dashboard.shared.forecast import DailyHistory, round_to_whole_credits
from proxyapi.forecast import ForecastStart, TopUpOffer, build_spending_pattern, forecast_run_out
from proxyapi.models import Account


def next_top_up_text(account: Account, ledger: DailyHistory, today: date) -> str:
    """In words. As if nothing were held: a top-up asks for the balance, not for what is free."""
    pattern = build_spending_pattern(ledger.days, ledger.first_full_day or today, today)
    if not pattern.has_enough_days:
        return "too few days to say"
    above = account.balance - TopUpOffer(True, account.balance, account.monthly_credits).threshold
    if above < 0:
        return "with the next spend through the API"
    # Run out of what is above the threshold: that is the day.
    found = forecast_run_out(
        ForecastStart(today, round_to_whole_credits(above)), pattern, f"{account.pk} {today}"
    )
    if found.median is None:
        return f"not before {found.until.day} {found.until:%b}"
    return f"{found.median:%a} {found.median.day} {found.median:%b}"
