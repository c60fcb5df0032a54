"""An account's run-out forecast, its inputs and its texts: a range of days, never a single day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Exists, Sum

from dashboard.shared.formatting import credits
from proxyapi.forecast import (
    DailyCredits,
    ForecastStart,
    RunOutForecast,
    SimulatedAccount,
    SpendingPattern,
    TopUpOffer,
    build_spending_pattern,
    forecast_run_out,
)
from proxyapi.forecast.replay import round_up_credits
from proxyapi.forecast.run_out import HORIZON_DAYS, SIMULATION_RUNS, count_cooldown_days
from proxyapi.forecast.spending_pattern import MIN_PATTERN_DAYS, PATTERN_WEEKS
from proxyapi.models import Account, AutoTopUp, CreditPack, DailyTotal, SpendingObstacle
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.top_up import InferredTopUpState, TopUpSetting, infer_top_up_state

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class DailyHistory:
    """Daily credits of an account. `first_full_day` is the first requested day that is mirrored in
    full, or None without an entry; `net_by_day` is the sum of all entries of a day."""

    first_full_day: date | None
    days: Mapping[date, DailyCredits]
    net_by_day: Mapping[date, Decimal]


def load_daily_history(account: Account, today: date, back: int) -> DailyHistory:
    """Return the last `back` days and today, in the team's time zone. One query, two if these days
    have no entry.

    If an older row exists, all these days are complete, because the mirror has no gaps.
    """
    since = today - timedelta(days=back)
    older = DailyTotal.objects.filter(account=account, day__lt=since)
    rows = DailyTotal.objects.filter(account=account, day__gte=since, day__lte=today)
    annotated = rows.order_by().annotate(has_older=Exists(older))
    grouped = annotated.values("day", "is_credit", "is_matched", "via_api", "has_older")
    sums = grouped.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    net_by_day: dict[date, Decimal] = defaultdict(Decimal)
    api: dict[date, tuple[Decimal, int]] = {}
    outside: dict[date, Decimal] = defaultdict(Decimal)
    received: dict[date, Decimal] = defaultdict(Decimal)
    refunded: dict[date, Decimal] = defaultdict(Decimal)
    has_older: bool | None = None
    for row in sums:
        has_older = row["has_older"]
        day, amount = row["day"], row["sum"]
        net_by_day[day] += amount
        if row["is_credit"] and not row["is_matched"]:
            received[day] += amount
        elif row["is_credit"]:
            refunded[day] += amount
        elif row["via_api"] is False:
            outside[day] -= amount
        else:
            spent, count = api.get(day, (ZERO_CREDITS, 0))
            api[day] = (spent - amount, count + row["rows"])
    for day, amount in refunded.items():
        # A refund reduces the day's spending; the part for earlier days counts as received.
        spent, count = api.get(day, (ZERO_CREDITS, 0))
        api[day] = (max(ZERO_CREDITS, spent - amount), count)
        received[day] += max(ZERO_CREDITS, amount - spent)
    days = {
        day: build_forecast_day(
            *api.get(day, (ZERO_CREDITS, 0)),
            outside.get(day, ZERO_CREDITS),
            received.get(day, ZERO_CREDITS),
        )
        for day in net_by_day
    }
    if has_older or since in net_by_day or (has_older is None and older.exists()):
        return DailyHistory(since, days, net_by_day)
    return DailyHistory(first_full_mirrored_day(account, net_by_day), days, net_by_day)


def build_forecast_day(
    spent: Decimal, count: int, outside: Decimal, received: Decimal
) -> DailyCredits:
    """Round the day's credits; its charges are assumed to be equal, each the day's mean."""
    api = round_to_whole_credits(spent)
    return DailyCredits(
        api,
        max(1, round(api / count)) if count else 1,
        round_to_whole_credits(outside),
        round_to_whole_credits(received),
    )


def first_full_mirrored_day(account: Account, days: Collection[date]) -> date | None:
    """Return the oldest day, or the next one if the mirror is incomplete, because the oldest day
    may then be partial."""
    if not days:
        return None
    oldest = min(days)
    ledger = getattr(account, "ledger", None)
    is_complete = ledger is not None and ledger.is_complete
    return oldest if is_complete else oldest + timedelta(days=1)


def round_to_whole_credits(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_HALF_UP))


def load_credit_packs(account: Account) -> list[CreditPack]:
    """One query."""
    packs = CreditPack.objects.filter(tenant=account.tenant_id)
    return list(packs.order_by("credits", "plan_id"))


def credits_per_top_up(setting: TopUpSetting, packs: Iterable[CreditPack]) -> int | None:
    """Return the credits of one top-up; None if the credits of its pack were not entered."""
    return setting.credits_per_top_up({pack.plan_id: pack.credits for pack in packs})


def build_top_up_offer(
    account: Account, setting: TopUpSetting, packs: Iterable[CreditPack]
) -> TopUpOffer | None:
    """Return None if auto top-up is on and the credits of its pack were not entered."""
    per_top_up = credits_per_top_up(setting, packs)
    if setting.enabled and per_top_up is None:
        return None
    credits = Decimal(per_top_up or 0) if setting.enabled else Decimal(0)
    return TopUpOffer(setting.enabled, credits, account.monthly_credits)


def build_simulated_account(
    account: Account,
    row: AutoTopUp | None,
    inferred: InferredTopUpState,
    available: Decimal,
    now: datetime,
) -> SimulatedAccount:
    """`available` is the balance without held credits."""
    return SimulatedAccount(
        balance=max(Decimal(0), available),
        failures=row.consecutive_failures if row else 0,
        failed_at=row.failure_seen_at if row and inferred.cooldown_until else None,
        day=now.astimezone(UTC).date(),
        top_ups_today=inferred.successes_today,
    )


@dataclass(frozen=True, slots=True)
class AccountForecast:
    """The forecast of an account and its inputs.

    `forecast` is None with too few days; `without_top_up` is the forecast as if no top-up came, the
    same object if top-up is off. `offer` is None if the credits of the pack were not entered, which
    counts as no top-up.
    """

    today: date
    setting: TopUpSetting
    offer: TopUpOffer | None
    start: SimulatedAccount
    history: DailyHistory
    pattern: SpendingPattern
    forecast: RunOutForecast | None = None
    without_top_up: RunOutForecast | None = None
    renews_on: date | None = None

    @property
    def has_top_ups(self) -> bool:
        return self.forecast is not self.without_top_up


def load_account_forecast(account: Account, available: Decimal, now: datetime) -> AccountForecast:
    """Three queries, four if the recent days have no entry; the account comes with its tenant,
    ledger and top-up. `available` is the balance without held credits."""
    row = getattr(account, "top_up", None)
    top_up = row if isinstance(row, AutoTopUp) and row.read_at else None
    setting = TopUpSetting.from_row(top_up) if top_up else TopUpSetting()
    inferred = infer_top_up_state(account, top_up, now)
    offer = build_top_up_offer(account, setting, load_credit_packs(account))
    zone, ends = account.tenant.zone, account.plan_ends_at
    today = now.astimezone(zone).date()
    history = load_daily_history(account, today, 7 * PATTERN_WEEKS)
    outlook = AccountForecast(
        today,
        setting,
        offer,
        build_simulated_account(account, top_up, inferred, available, now),
        history,
        build_spending_pattern(history.days, history.first_full_day or today, today),
        renews_on=ends.astimezone(zone).date() if ends and ends > now else None,
    )
    if not outlook.pattern.has_enough_days:
        return outlook
    seed = f"{account.pk} {today}"
    start = ForecastStart(today, round_to_whole_credits(outlook.start.balance))
    without_top_up = forecast = forecast_run_out(start, outlook.pattern, seed)
    if offer is not None and offer.enabled:
        start = replace(
            start,
            threshold=round_up_credits(offer.threshold),
            credits_per_top_up=round_to_whole_credits(offer.credits),
            top_ups_today=inferred.successes_today,
            cooldown_days=count_cooldown_days(inferred.cooldown_until, now),
        )
        forecast = forecast_run_out(start, outlook.pattern, seed)
    return replace(outlook, forecast=forecast, without_top_up=without_top_up)


@dataclass(frozen=True, slots=True)
class RunOutRange:
    """The run-out forecast as text: `figure` is the large text, `lines` explain it, and `dated` is
    True if it names days. `has_top_ups`: automatic top-ups, which the figure leaves out, are on."""

    figure: str
    lines: tuple[str, ...]
    dated: bool = True
    has_top_ups: bool = False

    @property
    def title(self) -> str:
        if not self.dated:
            return "When the credits run out"
        return "Without top-ups the credits run out" if self.has_top_ups else "The credits run out"

    @property
    def headline(self) -> str:
        """Title and figure in one line; the title alone if the figure names no day."""
        return f"{self.title}: {lowercase_first_letter(self.figure)}" if self.dated else self.title


def build_run_out_range(outlook: AccountForecast) -> RunOutRange:
    """A top-up may fail or be switched off, so the days are those without one."""
    forecast = outlook.without_top_up
    if forecast is None:
        return RunOutRange("Not enough days", (too_few_days_text(outlook),), dated=False)
    if not forecast.daily_spend:
        none = "No credits were spent in the recorded days."
        return RunOutRange("Nothing is spent", (none,), dated=False)
    lines = (
        run_out_chance_text(forecast),
        *top_up_effect_lines(outlook, forecast),
        *plan_renewal_lines(outlook, forecast),
    )
    return RunOutRange(run_out_span_text(forecast), lines, has_top_ups=outlook.has_top_ups)


def too_few_days_text(outlook: AccountForecast) -> str:
    known = outlook.pattern.known_days
    if outlook.history.first_full_day is None:
        return f"The ledger has no entries yet. A forecast needs {MIN_PATTERN_DAYS} full days."
    ready = outlook.today + timedelta(days=MIN_PATTERN_DAYS - known)
    days = {0: "no full day", 1: "1 full day"}.get(known, f"{known} full days")
    return (
        f"The ledger has {days} so far. The forecast starts with {MIN_PATTERN_DAYS}: "
        f"{short_date(ready)}."
    )


def run_out_span_text(forecast: RunOutForecast) -> str:
    """Return a text such as `3 to 12 Dec`, `28 Nov to 3 Dec`, `from 3 Dec` or `not before 19
    Jan`."""
    early, late = forecast.early, forecast.late
    if early is None:
        return f"Not before {short_date(forecast.until)}"
    if late is None:
        return f"From {short_date(early)} on"
    if early == late:
        return short_date(early)
    if (early.year, early.month) == (late.year, late.month):
        return f"{early.day} to {short_date(late)}"
    return f"{short_date(early)} to {short_date(late)}"


def run_out_chance_text(forecast: RunOutForecast) -> str:
    if forecast.early is None:
        share = "all" if forecast.percent_lasting == 100 else f"{forecast.percent_lasting} % of"
        return (
            f"In {share} {SIMULATION_RUNS} simulations the credits last at least {HORIZON_DAYS} "
            "days; later days are not simulated."
        )
    if forecast.late is None:
        return (
            f"In 10 % of {SIMULATION_RUNS} simulations the credits run out before "
            f"{short_date(forecast.early)}; in {forecast.percent_lasting} % they last until "
            f"{short_date(forecast.until)} or longer."
        )
    return (
        f"In 80 % of {SIMULATION_RUNS} simulations the credits run out in this range; "
        f"in half of them before {short_date(forecast.median or forecast.late)}."
    )


def plan_renewal_lines(outlook: AccountForecast, forecast: RunOutForecast) -> list[str]:
    """Return a line on whether the credits last until the plan renews."""
    renews_on = outlook.renews_on
    if renews_on is None or renews_on > forecast.until or renews_on <= outlook.today:
        return []
    lasting = forecast.percent_lasting_until(renews_on)
    return [
        (
            f"The plan renews on {short_date(renews_on)}; the credits last until then in {lasting} "
            "% of the simulations."
        )
    ]


def top_up_effect_lines(outlook: AccountForecast, without_top_up: RunOutForecast) -> list[str]:
    """Return a line on what automatic top-ups change; none if they are off."""
    forecast = outlook.forecast
    if forecast is None or not outlook.has_top_ups:
        return []
    span = run_out_span_text(forecast)
    if span == run_out_span_text(without_top_up):
        return ["Automatic top-ups do not change this."]
    times = f"about {forecast.top_ups} " if forecast.top_ups else ""
    top_ups = f"{times}automatic top-up{'' if forecast.top_ups == 1 else 's'}"
    return [f"With {top_ups} until {short_date(forecast.until)}: {lowercase_first_letter(span)}."]


def lowercase_first_letter(text: str) -> str:
    return text if text[:1].isdigit() else text[:1].lower() + text[1:]


def account_obstacle_text(account: Account) -> str:
    """Why the account's credits cannot be spent; empty if they can."""
    if not account.spending_obstacle:
        return ""
    reason = SpendingObstacle(account.spending_obstacle).label
    return f"These credits cannot be spent through the API now: {reason}."


def forecast_note(outlook: AccountForecast) -> str:
    if outlook.forecast is None or not outlook.forecast.daily_spend:
        return "When the credits run out, calculated from past spending."
    day = credits(outlook.forecast.daily_spend)
    return (
        f"About {day} credits are spent per day, based on the last {outlook.pattern.known_days} "
        "days."
    )


def short_date(day: date) -> str:
    return f"{day.day} {day:%b}"
