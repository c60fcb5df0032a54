"""The balance of the last four weeks, and the range in which it may go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal

from dashboard.queries.charts import Line, Mark, Point, Stop, Tick, line_of
from dashboard.queries.forecast.outlook import Outlook
from dashboard.queries.forecast.words import said, span
from dashboard.templatetags.reelroom import credits
from proxyapi.forecast import RunOutForecast, TopUpOffer
from proxyapi.models import Account

BACK = 28  # days
FEWEST, MOST = 14, 42  # days that are looked ahead
WEEKLY = 56  # days that have room for the name of each seventh
AFTER = 5  # days that are shown after the latest end


def chart_of(account: Account, outlook: Outlook, offer: TopUpOffer | None) -> Line | None:
    """Nothing without a pattern: then there is nothing to expect."""
    forecast = outlook.forecast
    if forecast is None:
        return None
    past = dict(past_of(account, outlook))
    ahead = ahead_of(outlook.today, forecast)
    first = min(past)
    days = (outlook.today - first).days + ahead

    def x(day: date) -> float:
        return 100 * (day - first).days / days

    bands = forecast.bands[:ahead]
    now = Point(x(outlook.today), account.balance)
    ends = [band.on + timedelta(days=1) for band in bands]
    every = 7 if days <= WEEKLY else 14
    ticks = [
        Tick(x(day), "today" if day == outlook.today else said(day), is_strong=day == outlook.today)
        for day in (outlook.today + timedelta(days=every * number) for number in range(-4, 7))
        if first <= day <= outlook.today + timedelta(days=ahead - 1)
    ]
    threshold = (
        (offer.threshold, f"tops up under {credits(offer.threshold)}")
        if offer and offer.enabled
        else None
    )
    return line_of(
        [*(Point(x(day), amount) for day, amount in sorted(past.items())), now],
        sentence_of(account, (outlook.today - first).days, forecast),
        ticks=ticks,
        marks=[Mark(now, "now", "now", credits(account.balance))],
        expected=[now, *(Point(x(e), Decimal(b.median)) for e, b in zip(ends, bands, strict=True))],
        band=[
            (now, now),
            *(
                (Point(x(end), Decimal(band.low)), Point(x(end), Decimal(band.high)))
                for end, band in zip(ends, bands, strict=True)
            ),
        ],
        threshold=threshold,
        stops=[
            Stop(x(day) - 50 / days, 100 / days, says)
            for day, says in stops_of(past, account, outlook.today, forecast, ahead)
        ],
        says="The dashed line is the middle of the drawn futures, the band holds eight in ten.",
    )


def stops_of(
    past: Mapping[date, Decimal],
    account: Account,
    today: date,
    forecast: RunOutForecast,
    ahead: int,
) -> Iterator[tuple[date, str]]:
    """What is told of each day: what it began with, or what may be left when it ends."""
    for day, amount in sorted(past.items()):
        if day < today:
            yield day, f"{said(day)}: began with {credits(amount)} cr."
    yield today, f"Today: {credits(account.balance)} cr now."
    for band in forecast.bands[: ahead - 1]:
        low, middle, high = (credits(amount) for amount in (band.low, band.median, band.high))
        yield (
            band.on + timedelta(days=1),
            f"End of {said(band.on)}: {low} to {high} cr, the middle is {middle}.",
        )


def past_of(account: Account, outlook: Outlook) -> Iterator[tuple[date, Decimal]]:
    """The balance at the beginning of each day, walked back from today's."""
    day, balance = outlook.today, account.balance
    first = max(outlook.ledger.first or day, day - timedelta(days=BACK))
    while day >= first:
        balance -= outlook.ledger.moved.get(day, Decimal(0))
        yield day, balance
        day -= timedelta(days=1)


def ahead_of(today: date, forecast: RunOutForecast) -> int:
    """Days to look ahead: past the latest end, where one is near enough."""
    end = forecast.late or forecast.early
    days = (end - today).days + AFTER if end else MOST
    return min(MOST, max(FEWEST, days), len(forecast.bands))


def sentence_of(account: Account, days: int, forecast: RunOutForecast) -> str:
    lasts = span(forecast)
    return (
        f"Balance of the last {days} days, {credits(account.balance)} credits now, "
        f"expected to run out: {lasts[:1].lower()}{lasts[1:]}."
    )
