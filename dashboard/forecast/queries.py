"""Queries of the forecast page: when an account's credits run out, the assumptions, and a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.charts import (
    AxisTick,
    ChartMark,
    HoverTarget,
    LineChart,
    LinePoint,
    build_line_chart,
)
from dashboard.shared.forecast import (
    AccountForecast,
    RunOutRange,
    account_obstacle_text,
    build_run_out_range,
    forecast_note,
    load_account_forecast,
    lowercase_first_letter,
    run_out_span_text,
    short_date,
)
from dashboard.shared.formatting import clock, credits
from proxyapi.forecast import (
    BatchAnswer,
    BatchForecast,
    ForecastBand,
    RunOutForecast,
    SimulatedAccount,
    TopUpOffer,
    forecast_batch,
)
from proxyapi.forecast.run_out import SIMULATION_RUNS
from proxyapi.models import Account
from proxyapi.top_up import utc_midnight

HOLDS_TEXT = "Credits held by open charges count as spent. Today counts as a full future day."
RENEWAL_TEXT = "Credits from plan renewals and manually bought packs are not included."
EVEN_CHARGES_TEXT = (
    "Charges are spread evenly over each day. One large job can reach its limit sooner."
)
TOP_UP_TEXT = (
    "Top-up buys {each} credits when spending through the API leaves less than {tenth}. Every "
    "payment is assumed to succeed."
)
UNKNOWN_PACK_TEXT = "Top-up buys pack {pack}, whose credits are not set, so it is not included."
UTC_DAY_TEXT = (
    "The service counts the three top-ups per UTC day; this forecast counts them per day of the "
    "team."
)
HISTORY_DAYS = 28
MIN_DAYS_AHEAD, MAX_DAYS_AHEAD = 14, 42
MAX_DAYS_WITH_WEEKLY_TICKS = 56  # beyond that, a label every two weeks
DAYS_AFTER_RUN_OUT = 5  # days of the chart after the latest run-out
NOW_WITHIN_S = 60  # a batch that finishes within a minute counts as "now"


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
    free: Decimal
    as_of: datetime | None
    chart: LineChart | None
    bands: tuple[ForecastBand, ...]
    assumptions: tuple[str, ...]
    verdict: BatchVerdict | None


def build_forecast_page(
    account: Account, accounts: Sequence[Account], batch: BatchInput | None = None
) -> ForecastPage:
    """Four queries; the account is loaded with its tenant, its ledger and its top-up."""
    now, (held, held_by_others) = timezone.now(), account.held_by_all_and_others()
    obstacle = account_obstacle_text(account)
    available = Decimal(0) if obstacle else max(Decimal(0), account.balance - held)
    account_forecast = load_account_forecast(account, available, now)
    if obstacle:
        account_forecast = replace(account_forecast, forecast=None, without_top_up=None, offer=None)
    return ForecastPage(
        account_id=account.pk,
        name=account.label,
        note=obstacle or forecast_note(account_forecast),
        tabs=build_account_tabs("forecast", accounts, account),
        range=RunOutRange("Not spendable", (obstacle,), dated=False)
        if obstacle
        else build_run_out_range(account_forecast),
        balance=account.balance,
        held=held,
        held_by_others=held_by_others,
        free=available,
        as_of=account.balance_as_of,
        chart=build_forecast_chart(account, account_forecast),
        bands=sample_table_bands(account_forecast),
        assumptions=build_forecast_assumptions(account_forecast),
        verdict=build_batch_verdict(account_forecast.start, account_forecast.offer, now, batch)
        if batch
        else None,
    )


def sample_table_bands(account_forecast: AccountForecast) -> tuple[ForecastBand, ...]:
    """Every third day, for the table."""
    return account_forecast.forecast.bands[::3] if account_forecast.forecast else ()


def build_forecast_assumptions(account_forecast: AccountForecast) -> tuple[str, ...]:
    if account_forecast.forecast is None:
        return ()
    texts = (
        sampling_assumption_text(account_forecast),
        HOLDS_TEXT,
        RENEWAL_TEXT,
        EVEN_CHARGES_TEXT,
    )
    offer = account_forecast.offer
    if offer is None:
        return (*texts, UNKNOWN_PACK_TEXT.format(pack=account_forecast.setting.plan_id))
    if not offer.enabled:
        return (*texts, "Automatic top-up is off or has not been read yet.")
    top_up_text = TOP_UP_TEXT.format(each=credits(offer.credits), tenth=credits(offer.threshold))
    return (*texts, top_up_text, UTC_DAY_TEXT)


def sampling_assumption_text(account_forecast: AccountForecast) -> str:
    known_days = account_forecast.pattern.known_days
    if account_forecast.pattern.knows_weekdays:
        sampled_day = f"a day of the same weekday from the last {known_days} days"
    else:
        sampled_day = (
            f"a workday or weekend day from the last {known_days} days (weekdays need three weeks)"
        )
    return (
        f"The forecast is made of {SIMULATION_RUNS} simulations. Each future day repeats "
        f"{sampled_day}."
    )


def build_forecast_chart(account: Account, account_forecast: AccountForecast) -> LineChart | None:
    """None without a spending pattern."""
    forecast, offer = account_forecast.forecast, account_forecast.offer
    if forecast is None:
        return None
    past = dict(iter_past_balances(account, account_forecast))
    ahead = count_days_ahead(account_forecast.today, forecast)
    first = min(past)
    days = (account_forecast.today - first).days + ahead

    def x(day: date) -> float:
        return 100 * (day - first).days / days

    bands, now = forecast.bands[:ahead], LinePoint(x(account_forecast.today), account.balance)
    ends = [band.on + timedelta(days=1) for band in bands]
    today, last = account_forecast.today, account_forecast.today + timedelta(days=ahead - 1)
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
        forecast_chart_text(
            account, account_forecast, forecast, (account_forecast.today - first).days
        ),
        ticks=ticks,
        marks=[ChartMark(now, "now", "now", credits(account.balance))],
        expected=[
            now,
            *(LinePoint(x(end), Decimal(b.median)) for end, b in zip(ends, bands, strict=True)),
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
            HoverTarget(x(day) - 50 / days, 100 / days, text)
            for day, text in iter_day_texts(past, account, account_forecast.today, forecast, ahead)
        ],
        says="The dashed line is the median of the simulations; the band holds 80 % of them.",
    )


def tick_days(first: date, today: date, last: date) -> list[date]:
    """The days labelled below the chart: today and every seventh or fourteenth day before and
    after."""
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
    """The text of each day: its opening balance, or the expected balance at its end."""
    for day, amount in sorted(past.items()):
        if day < today:
            yield day, f"{short_date(day)}: opening balance {credits(amount)} cr."
    yield today, f"Today: {credits(account.balance)} cr now."
    for band in forecast.bands[: ahead - 1]:
        low, middle, high = (credits(amount) for amount in (band.low, band.median, band.high))
        yield (
            band.on + timedelta(days=1),
            f"End of {short_date(band.on)}: {low} to {high} cr, median {middle}.",
        )


def iter_past_balances(
    account: Account, account_forecast: AccountForecast
) -> Iterator[tuple[date, Decimal]]:
    """The opening balance of each day, calculated back from today's balance."""
    day, balance = account_forecast.today, account.balance
    first = max(account_forecast.history.first_full_day or day, day - timedelta(days=HISTORY_DAYS))
    while day >= first:
        balance -= account_forecast.history.net_by_day.get(day, Decimal(0))
        yield day, balance
        day -= timedelta(days=1)


def count_days_ahead(today: date, forecast: RunOutForecast) -> int:
    """The number of future days in the chart: to just after the latest run-out, within limits."""
    end = forecast.late or forecast.early
    days = (end - today).days + DAYS_AFTER_RUN_OUT if end else MAX_DAYS_AHEAD
    return min(MAX_DAYS_AHEAD, max(MIN_DAYS_AHEAD, days), len(forecast.bands))


def forecast_chart_text(
    account: Account, outlook: AccountForecast, forecast: RunOutForecast, days: int
) -> str:
    top_ups = " with automatic top-ups" if outlook.has_top_ups else ""
    return (
        f"Balance of the last {days} days, {credits(account.balance)} credits now, "
        f"expected to run out{top_ups}: {lowercase_first_letter(run_out_span_text(forecast))}."
    )


@dataclass(frozen=True, slots=True)
class BatchInput:
    """`count` charges of about `credits_each` credits."""

    count: int
    credits_each: Decimal

    @property
    def total(self) -> Decimal:
        return self.count * self.credits_each


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """`state` is that of the banner."""

    state: str
    title: str
    text: str


def build_batch_verdict(
    account: SimulatedAccount, offer: TopUpOffer | None, now: datetime, requested: BatchInput
) -> BatchVerdict:
    """`offer` None (a pack with unknown credits) counts as no top-up."""
    known_offer = offer or TopUpOffer(False, Decimal(0), Decimal(0))
    batch = forecast_batch(account, known_offer, now, requested.count, requested.credits_each)
    total, available = credits(requested.total), credits(account.balance)
    request_text = (
        f"{requested.count} × {credits(requested.credits_each)} = {total} cr; {available} are free."
    )
    if batch.answer is BatchAnswer.NO:
        return BatchVerdict(
            "failed",
            unaffordable_title(batch, requested),
            f"{request_text} {batch_shortfall_text(batch, known_offer)}",
        )
    top_ups_text = batch_top_ups_text(batch, known_offer)
    if batch.answer is BatchAnswer.YES:
        credits_left_text = f"{credits(batch.credits_left)} remain."
        return BatchVerdict(
            "good", "Yes, all now.", f"{request_text} {credits_left_text}{top_ups_text}"
        )
    finished_text = (
        "now"
        if (batch.finished_at - now).total_seconds() < NOW_WITHIN_S
        else f"by {clock(batch.finished_at)}"
    )
    return BatchVerdict(
        "late",
        f"Only with top-up: {finished_text}.",
        f"{request_text}{top_ups_text}{batch_delay_text(batch, now)}",
    )


def unaffordable_title(batch: BatchForecast, requested: BatchInput) -> str:
    if not batch.sent_count:
        return "No, not even one."
    return f"No, only {batch.sent_count} of {requested.count}."


def batch_shortfall_text(batch: BatchForecast, offer: TopUpOffer) -> str:
    shortfall = f"The next one is short by {credits(batch.missing_credits)}."
    if not offer.enabled:
        return f"{shortfall} Automatic top-up is off."
    tenth = credits(offer.threshold)
    return f"{shortfall} A top-up is triggered only by spending through the API, below {tenth}."


def batch_top_ups_text(batch: BatchForecast, offer: TopUpOffer) -> str:
    if not batch.top_ups:
        return ""
    times = "One top-up" if batch.top_ups == 1 else f"{batch.top_ups} top-ups"
    together = credits(batch.top_ups * offer.credits)
    return f" {times} needed: {together} credits bought with the saved card."


def batch_delay_text(batch: BatchForecast, now: datetime) -> str:
    if (batch.finished_at - now).total_seconds() < NOW_WITHIN_S:
        return ""
    days = (utc_midnight(batch.finished_at) - utc_midnight(now)).days
    reason = (
        "at most three top-ups per UTC day are possible"
        if days
        else "the service waits after a failure"
    )
    return f" It takes until {clock(batch.finished_at)}, because {reason}."
