"""The balance of the last four weeks, and the range in which it may go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal

from dashboard.shared.charts import (
    AxisTick,
    ChartMark,
    HoverTarget,
    LineChart,
    LinePoint,
    build_line_chart,
)
from dashboard.shared.forecast.outlook import AccountForecast
from dashboard.shared.forecast.wording import run_out_span_text, short_date
from dashboard.shared.formatting import credits
from proxyapi.forecast import RunOutForecast, TopUpOffer
from proxyapi.models import Account

HISTORY_DAYS = 28  # days
MIN_DAYS_AHEAD, MAX_DAYS_AHEAD = 14, 42  # days that are looked ahead
MAX_DAYS_WITH_WEEKLY_TICKS = 56  # days that have room for the name of each seventh
DAYS_AFTER_RUN_OUT = 5  # days that are shown after the latest end


def build_forecast_chart(
    account: Account, outlook: AccountForecast, offer: TopUpOffer | None
) -> LineChart | None:
    """Nothing without a pattern: then there is nothing to expect."""
    forecast = outlook.forecast
    if forecast is None:
        return None
    past = dict(iter_past_balances(account, outlook))
    ahead = count_days_ahead(outlook.today, forecast)
    first = min(past)
    days = (outlook.today - first).days + ahead

    def x(day: date) -> float:
        return 100 * (day - first).days / days

    bands, now = forecast.bands[:ahead], LinePoint(x(outlook.today), account.balance)
    ends = [band.on + timedelta(days=1) for band in bands]
    today, last = outlook.today, outlook.today + timedelta(days=ahead - 1)
    ticks = [
        AxisTick(x(day), short_date(day) if day != today else "today", is_strong=day == today)
        for day in tick_days(first, today, last)
    ]
    threshold = (
        (offer.threshold, f"tops up under {credits(offer.threshold)}")
        if offer and offer.enabled
        else None
    )
    return build_line_chart(
        [*(LinePoint(x(day), amount) for day, amount in sorted(past.items())), now],
        forecast_chart_text(account, (outlook.today - first).days, forecast),
        ticks=ticks,
        marks=[ChartMark(now, "now", "now", credits(account.balance))],
        expected=[
            now,
            *(LinePoint(x(e), Decimal(b.median)) for e, b in zip(ends, bands, strict=True)),
        ],
        band=[
            (now, now),
            *(
                (LinePoint(x(end), Decimal(band.low)), LinePoint(x(end), Decimal(band.high)))
                for end, band in zip(ends, bands, strict=True)
            ),
        ],
        threshold=threshold,
        stops=[
            HoverTarget(x(day) - 50 / days, 100 / days, says)
            for day, says in iter_day_texts(past, account, outlook.today, forecast, ahead)
        ],
        says="The dashed line is the median of the simulated futures; the band holds 80 % of them.",
    )


def tick_days(first: date, today: date, last: date) -> list[date]:
    """Days with a name under the chart: today and each seventh or fourteenth before and after."""
    step = 7 if (last - first).days < MAX_DAYS_WITH_WEEKLY_TICKS else 14
    days = (today + timedelta(days=step * number) for number in range(-4, 7))
    return [day for day in days if first <= day <= last]


def iter_day_texts(
    past: Mapping[date, Decimal],
    account: Account,
    today: date,
    forecast: RunOutForecast,
    ahead: int,
) -> Iterator[tuple[date, str]]:
    """What is told of each day: what it began with, or what may be left when it ends."""
    for day, amount in sorted(past.items()):
        if day < today:
            yield day, f"{short_date(day)}: began with {credits(amount)} cr."
    yield today, f"Today: {credits(account.balance)} cr now."
    for band in forecast.bands[: ahead - 1]:
        low, middle, high = (credits(amount) for amount in (band.low, band.median, band.high))
        yield (
            band.on + timedelta(days=1),
            f"End of {short_date(band.on)}: {low} to {high} cr, the middle is {middle}.",
        )


def iter_past_balances(
    account: Account, outlook: AccountForecast
) -> Iterator[tuple[date, Decimal]]:
    """The balance at the beginning of each day, walked back from today's."""
    day, balance = outlook.today, account.balance
    first = max(outlook.history.first_full_day or day, day - timedelta(days=HISTORY_DAYS))
    while day >= first:
        balance -= outlook.history.net_by_day.get(day, Decimal(0))
        yield day, balance
        day -= timedelta(days=1)


def count_days_ahead(today: date, forecast: RunOutForecast) -> int:
    """Days to look ahead: past the latest end, where one is near enough."""
    end = forecast.late or forecast.early
    days = (end - today).days + DAYS_AFTER_RUN_OUT if end else MAX_DAYS_AHEAD
    return min(MAX_DAYS_AHEAD, max(MIN_DAYS_AHEAD, days), len(forecast.bands))


def forecast_chart_text(account: Account, days: int, forecast: RunOutForecast) -> str:
    lasts = run_out_span_text(forecast)
    return (
        f"Balance of the last {days} days, {credits(account.balance)} credits now, "
        f"expected to run out: {lasts[:1].lower()}{lasts[1:]}."
    )
