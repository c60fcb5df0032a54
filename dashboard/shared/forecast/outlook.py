"""An account's forecast with what it was made from: its days, its free credits, its top-up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Exists, Sum

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
from proxyapi.forecast.run_out import count_cooldown_days
from proxyapi.forecast.spending_pattern import PATTERN_WEEKS
from proxyapi.models import Account, AutoTopUp, CreditPack, DailyTotal
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.top_up import InferredTopUpState, TopUpSetting

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class DailyHistory:
    """`first`: the first day of those asked for that is here in full; None without an entry.

    `moved` is what all entries of a day add up to.
    """

    first_full_day: date | None
    days: Mapping[date, DailyCredits]
    net_by_day: Mapping[date, Decimal]


def load_daily_history(account: Account, today: date, back: int) -> DailyHistory:
    """The last `back` days and today, in the team's days. One query, two where they were quiet.

    With a row before them all these days are known: the mirror has no gaps.
    """
    since = today - timedelta(days=back)
    older = DailyTotal.objects.filter(account=account, day__lt=since)
    rows = DailyTotal.objects.filter(account=account, day__gte=since, day__lte=today)
    told = rows.order_by().annotate(goes_back=Exists(older))
    split = told.values("day", "is_credit", "is_matched", "via_api", "goes_back")
    sums = split.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    moved: dict[date, Decimal] = defaultdict(Decimal)
    api: dict[date, tuple[Decimal, int]] = {}
    outside: dict[date, Decimal] = defaultdict(Decimal)
    into: dict[date, Decimal] = defaultdict(Decimal)
    given_back: dict[date, Decimal] = defaultdict(Decimal)
    goes_back: bool | None = None
    for row in sums:
        goes_back = row["goes_back"]
        day, amount = row["day"], row["sum"]
        moved[day] += amount
        if row["is_credit"] and not row["is_matched"]:
            into[day] += amount
        elif row["is_credit"]:
            given_back[day] += amount
        elif row["via_api"] is False:
            outside[day] -= amount
        else:
            spent, count = api.get(day, (ZERO_CREDITS, 0))
            api[day] = (spent - amount, count + row["rows"])
    for day, amount in given_back.items():
        # What was taken and given back was not spent; of an earlier day's, the rest came in.
        spent, count = api.get(day, (ZERO_CREDITS, 0))
        api[day] = (max(ZERO_CREDITS, spent - amount), count)
        into[day] += max(ZERO_CREDITS, amount - spent)
    days = {
        day: build_forecast_day(
            *api.get(day, (ZERO_CREDITS, 0)),
            outside.get(day, ZERO_CREDITS),
            into.get(day, ZERO_CREDITS),
        )
        for day in moved
    }
    if goes_back or since in moved or (goes_back is None and older.exists()):
        return DailyHistory(since, days, moved)
    return DailyHistory(first_full_mirrored_day(account, moved), days, moved)


def build_forecast_day(spent: Decimal, count: int, outside: Decimal, into: Decimal) -> DailyCredits:
    """Charges of a day are taken to be even: each is the day's mean."""
    api = round_to_whole_credits(spent)
    return DailyCredits(
        api,
        max(1, round(api / count)) if count else 1,
        round_to_whole_credits(outside),
        round_to_whole_credits(into),
    )


def first_full_mirrored_day(account: Account, days: Collection[date]) -> date | None:
    """Where the mirror is not whole the oldest day may be a part of one: then the next counts."""
    if not days:
        return None
    oldest = min(days)
    ledger = getattr(account, "ledger", None)
    is_whole = ledger is not None and ledger.is_complete
    return oldest if is_whole else oldest + timedelta(days=1)


def round_to_whole_credits(amount: Decimal) -> int:
    return int(amount.to_integral_value(rounding=ROUND_HALF_UP))


def load_credit_packs(account: Account) -> list[CreditPack]:
    """One query."""
    packs = CreditPack.objects.filter(tenant=account.tenant_id)
    return list(packs.order_by("credits", "plan_id"))


def credits_per_top_up(setting: TopUpSetting, packs: Iterable[CreditPack]) -> int | None:
    """Credits of one top-up; None where nobody has said what its pack holds."""
    return setting.credits_per_top_up({pack.plan_id: pack.credits for pack in packs})


def build_top_up_offer(
    account: Account, setting: TopUpSetting, packs: Iterable[CreditPack]
) -> TopUpOffer | None:
    """None where it is on and nobody has said what its pack holds."""
    bought = credits_per_top_up(setting, packs)
    if setting.enabled and bought is None:
        return None
    credits = Decimal(bought or 0) if setting.enabled else Decimal(0)
    return TopUpOffer(setting.enabled, credits, account.monthly_credits)


def build_simulated_account(
    account: Account,
    row: AutoTopUp | None,
    inferred: InferredTopUpState,
    free: Decimal,
    now: datetime,
) -> SimulatedAccount:
    """`free`: what may be spent, so without what is held."""
    return SimulatedAccount(
        balance=max(Decimal(0), free),
        failures=row.consecutive_failures if row else 0,
        failed_at=row.failure_seen_at if row and inferred.cooldown_until else None,
        day=now.astimezone(UTC).date(),
        top_ups_today=inferred.successes_today,
    )


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
