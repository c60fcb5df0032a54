"""Credits that run out within a number of days: the forecast draws hundreds of futures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    ThresholdRange,
    accounts_with_token,
    page_url_or_empty,
    weekly_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.forecast import (
    AccountForecast,
    build_account_forecast,
    build_simulated_account,
    build_top_up_offer,
    load_credit_packs,
    lowercase_first_letter,
    run_out_chance_text,
    run_out_span_text,
)
from proxyapi.models import Account, AutoTopUp
from proxyapi.top_up import TopUpSetting, infer_top_up_state


def find_credits_running_out(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Credits that run out within the threshold, in one of ten futures, before the plan renews."""
    accounts = accounts_with_token(team).exclude(balance_as_of=None)
    for account in accounts.select_related("tenant", "ledger", "top_up"):
        outlook = current_outlook(account, now)
        forecast = outlook.forecast
        if forecast is None or forecast.early is None:
            continue
        if outlook.renews_on is not None and outlook.renews_on <= forecast.early:
            continue
        days = (forecast.early - outlook.today).days
        for rule in rules:
            if days < rule.threshold:
                yield AlertFinding(
                    rule,
                    str(account.pk),
                    running_out_title(days),
                    f"The credits of {account.label} run out "
                    f"{lowercase_first_letter(run_out_span_text(forecast))}. "
                    f"{run_out_chance_text(forecast)}",
                    "late" if days else "failed",
                    page_url_or_empty("forecast", f"?account={account.pk}"),
                    weekly_period(team, now),
                )


def running_out_title(days: int) -> str:
    if not days:
        return "The credits may run out today"
    return f"The credits may last {days} day{'' if days == 1 else 's'}"


def current_outlook(account: Account, now: datetime) -> AccountForecast:
    """As the page of the forecast has it; five queries at most."""
    row = getattr(account, "top_up", None)
    known = row if isinstance(row, AutoTopUp) and row.read_at else None
    setting = TopUpSetting.from_row(known) if known else TopUpSetting()
    inferred = infer_top_up_state(account, known, now)
    offer = build_top_up_offer(account, setting, load_credit_packs(account))
    standing = build_simulated_account(account, known, inferred, account.available_balance(), now)
    return build_account_forecast(account, standing, offer, inferred, now)


SPEC = AlertKindSpec(
    kind=AlertKind.FORECAST,
    sentence="Days of credits left below",
    find=find_credits_running_out,
    threshold=ThresholdRange(1, 60, "days"),
    default_thresholds=(7,),
    is_slow=True,
)
