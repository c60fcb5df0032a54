"""Credits that run out within a number of days, by the simulated forecast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    account_page_url,
    accounts_to_spend_from,
    weekly_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.forecast import (
    load_account_forecast,
    lowercase_first_letter,
    run_out_chance_text,
    run_out_span_text,
)


def find_credits_running_out(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """A finding if credits run out within the threshold in 10 % of the simulations, with automatic
    top-ups and before the plan renews."""
    accounts = accounts_to_spend_from(team).exclude(balance_as_of=None)
    for account in accounts.select_related("tenant", "ledger", "top_up"):
        account_forecast = load_account_forecast(account, account.available_balance(), now)
        forecast = account_forecast.forecast
        if forecast is None or forecast.early is None:
            continue
        if account_forecast.renews_on is not None and account_forecast.renews_on <= forecast.early:
            continue
        days = (forecast.early - account_forecast.today).days
        article = "With automatic top-ups, the" if account_forecast.has_top_ups else "The"
        for rule in rules:
            if days < rule.threshold:
                yield AlertFinding(
                    rule,
                    str(account.pk),
                    running_out_title(days),
                    f"{article} credits of {account.label} run out "
                    f"{lowercase_first_letter(run_out_span_text(forecast))}. "
                    f"{run_out_chance_text(forecast)}",
                    "late" if days else "failed",
                    account_page_url("forecast", account.pk),
                    weekly_period(team, now),
                )


def running_out_title(days: int) -> str:
    if not days:
        return "The credits may run out today"
    return f"The credits may last {days} day{'' if days == 1 else 's'}"


SPEC = AlertKindSpec(
    kind=AlertKind.FORECAST,
    sentence="Days of credits left below",
    find=find_credits_running_out,
    threshold=ThresholdRange(1, 60, "days"),
    is_worse_below=True,
    default_thresholds=(7,),
    is_slow=True,
)
