"""Simulation of the last 30 days of the ledger with the setting in the form.

Up to `MAX_EXACT_ENTRIES` entries are replayed one by one; a longer ledger is replayed day by day
from its sums. Actual top-ups are left out; all other credits are kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from dashboard.shared.charts import AxisTick, ChartMark, LineChart, build_line_chart
from dashboard.shared.charts import LinePoint as Place
from dashboard.shared.forecast import (
    DailyHistory,
    build_top_up_offer,
    load_credit_packs,
    load_daily_history,
    round_to_whole_credits,
)
from dashboard.shared.formatting import credits
from proxyapi.forecast import (
    CreditMovement,
    DailyCredits,
    ForecastStart,
    ReplayPoint,
    TopUpOffer,
    TopUpReplay,
    UncoveredSpend,
    build_spending_pattern,
    forecast_run_out,
    replay_days,
    replay_movements,
)
from proxyapi.models import Account, CreditPack, TopUpType
from proxyapi.top_up import TopUpSetting, is_top_up_entry, mentions_top_up

REPLAY_DAYS = 30
PATTERN_WEEKS = 8  # history of the spending pattern
MAX_EXACT_ENTRIES = 3000
MAX_CHART_POINTS = 160  # besides the top-ups
MAX_GAPS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReplayedDay:
    """`balance` is in credits, after the day's last movement."""

    day: date
    balance: Decimal
    top_ups: int


@dataclass(frozen=True, slots=True)
class TopUpWhatIf:
    """`chart` is None if there is nothing to simulate; `trouble` says why."""

    setting: str
    days: int
    chart: LineChart | None = None
    table: tuple[ReplayedDay, ...] = ()
    top_ups: int = 0
    bought: Decimal = Decimal(0)
    cost: str = ""
    busiest: int = 0
    gaps: tuple[UncoveredSpend, ...] = ()
    more_gaps: int = 0
    by_day: bool = False
    expected: str = ""
    trouble: str = ""

    @property
    def gap_count(self) -> int:
        return len(self.gaps) + self.more_gaps


UNFINISHED_WHAT_IF = TopUpWhatIf("", 0, trouble="Complete the form above to see the simulation.")


def build_what_if(account: Account, setting: TopUpSetting) -> TopUpWhatIf:
    """At most four queries and no request to the service."""
    now, packs = timezone.now(), load_credit_packs(account)
    today = now.astimezone(account.tenant.zone).date()
    ledger = load_daily_history(account, today, 7 * PATTERN_WEEKS)
    offer = build_top_up_offer(account, setting, packs)
    setting_text = setting.describe()
    if offer is None:
        pack = f"The credits of pack {setting.plan_id} are not set. Add the pack below."
        return TopUpWhatIf(setting_text, 0, trouble=pack)
    replay, days = replay_account(account, ledger, offer, today)
    if replay is None:
        return TopUpWhatIf(setting_text, 0, trouble="The ledger has no full day to simulate yet.")
    shown_gaps = replay.gaps[:MAX_GAPS_SHOWN]
    return TopUpWhatIf(
        setting=setting_text,
        days=days,
        chart=build_replay_chart(replay, account, offer, now, days),
        table=build_replayed_days(replay, account.tenant.zone),
        top_ups=replay.top_ups,
        bought=replay.credits_bought,
        cost=top_ups_cost_text(setting, packs, replay.top_ups),
        busiest=replay.max_top_ups_per_day,
        gaps=tuple(shown_gaps),
        more_gaps=len(replay.gaps) - len(shown_gaps),
        by_day=replay.is_daily,
        expected=next_top_up_text(account, ledger, today) if setting.enabled else "",
    )


def replay_account(
    account: Account, ledger: DailyHistory, offer: TopUpOffer, today: date
) -> tuple[TopUpReplay | None, int]:
    """The replay and the number of days that it covers."""
    if ledger.first_full_day is None or ledger.first_full_day > today:
        return None, 0
    first = max(ledger.first_full_day, today - timedelta(days=REPLAY_DAYS - 1))
    days = (today - first).days + 1
    opening = account.balance - sum(
        (moved for day, moved in ledger.net_by_day.items() if day >= first), Decimal(0)
    )
    since = datetime.combine(first, time(), account.tenant.zone).astimezone(UTC)
    rows = load_entry_values_since(account, since)
    if len(rows) <= MAX_EXACT_ENTRIES:
        return replay_movements(max(opening, Decimal(0)), since, build_movements(rows), offer), days
    dates = [first + timedelta(days=number) for number in range(days)]
    top_ups, zone = load_top_ups_by_day(account, since), account.tenant.zone
    credits_by_day = {day: ledger.days.get(day, DailyCredits()) for day in dates}
    credits_by_time = [
        (
            day_end_utc(day, zone),
            replace(
                day_credits, into=max(0, day_credits.into - round_to_whole_credits(top_ups[day]))
            ),
        )
        for day, day_credits in credits_by_day.items()
    ]
    return replay_days(max(opening, Decimal(0)), since, credits_by_time, offer), days


def day_end_utc(day: date, zone: ZoneInfo) -> datetime:
    """The last moment of the day in UTC; the next midnight would belong to the next day."""
    return datetime.combine(day, time.max, zone).astimezone(UTC)


def load_top_ups_by_day(account: Account, since: datetime) -> defaultdict[date, Decimal]:
    """Credits of automatic top-ups by day. Read from entries, because only these have all labels;
    incoming credits are few."""
    top_ups: defaultdict[date, Decimal] = defaultdict(Decimal)
    for entry in account.entries.filter(amount__gt=0, charge=None, happened_at__gte=since):
        if is_top_up_entry(entry):
            top_ups[entry.happened_at.astimezone(account.tenant.zone).date()] += entry.amount
    return top_ups


def load_entry_values_since(account: Account, since: datetime) -> list[Any]:
    rows = account.entries.filter(happened_at__gte=since).order_by("happened_at", "position")
    label_fields = ("label", "content_type", "transaction_type")
    return list(
        rows.values_list("happened_at", "amount", "via_api", "charge", *label_fields)[
            : MAX_EXACT_ENTRIES + 1
        ]
    )


def build_movements(rows: Sequence[Any]) -> list[CreditMovement]:
    """If it is not known yet whether an entry came through the API, it counts as such."""
    return [
        CreditMovement(at, amount, via_api is not False)
        for at, amount, via_api, charge, *labels in rows
        if amount < 0 or charge or not mentions_top_up(*labels)
    ]


def top_ups_cost_text(setting: TopUpSetting, packs: Sequence[CreditPack], top_ups: int) -> str:
    """The cost in money, if the pack's price is known."""
    if not setting.enabled or setting.type != TopUpType.PACK:
        return ""
    pack = next(
        (credit_pack for credit_pack in packs if credit_pack.plan_id == setting.plan_id), None
    )
    return f"{pack.price * top_ups:,.2f} {pack.currency}" if pack and pack.price else ""


def build_replay_chart(
    replay: TopUpReplay, account: Account, offer: TopUpOffer, now: datetime, days: int
) -> LineChart:
    begin, zone = replay.points[0].at, account.tenant.zone
    span = max((now - begin).total_seconds(), 1.0)

    def place(point: ReplayPoint) -> Place:
        x = 100 * (point.at - begin).total_seconds() / span
        return Place(min(100.0, max(0.0, x)), point.balance)

    ticks = []
    for number in range(0, days, 1):
        at = begin.astimezone(zone) + timedelta(days=number)
        x = 100 * (at - begin).total_seconds() / span
        ticks.append(AxisTick(x, f"{at.day} {at:%b}", "start" if number == 0 else "middle"))
    ticks.append(AxisTick(100, "today", "end", is_strong=True))
    marks = [
        ChartMark(place(point), "in", f"{credits(offer.credits)} credits more")
        for point in replay.points
        if point.topped_up
    ]
    threshold = (
        offer.threshold,
        f"tops up under {credits(round_to_whole_credits(offer.threshold))}",
    )
    return build_line_chart(
        [
            place(point)
            for point in thin_replay_points([*replay.points, current_replay_point(replay, now)])
        ],
        replay_chart_text(replay, days),
        ticks=ticks,
        marks=marks[:40],
        threshold=threshold if offer.enabled else None,
    )


def current_replay_point(replay: TopUpReplay, now: datetime) -> ReplayPoint:
    return ReplayPoint(now, replay.points[-1].balance)


def thin_replay_points(points: Sequence[ReplayPoint]) -> list[ReplayPoint]:
    """Points for the chart: both ends of each jump, and a sample of the others."""
    every = max(1, len(points) // MAX_CHART_POINTS)
    last = len(points) - 1

    def stays(number: int) -> bool:
        at = points[number].at
        if number in (0, last) or number % every == 0:
            return True
        return at in (points[number - 1].at, points[number + 1].at)

    return [point for number, point in enumerate(points) if stays(number)]


def build_replayed_days(replay: TopUpReplay, zone: ZoneInfo) -> tuple[ReplayedDay, ...]:
    """The chart as a table, newest day first."""
    ends: dict[date, Decimal] = {}
    bought: Counter[date] = Counter()
    for point in replay.points:
        day = point.at.astimezone(zone).date()
        ends[day] = point.balance
        bought[day] += point.topped_up
    return tuple(ReplayedDay(day, ends[day], bought[day]) for day in sorted(ends, reverse=True))


def replay_chart_text(replay: TopUpReplay, days: int) -> str:
    times = "once" if replay.top_ups == 1 else f"{replay.top_ups} times"
    end = credits(replay.points[-1].balance)
    period_text = "of today" if days == 1 else f"of the last {days} days"
    gaps = ""
    if replay.gaps:
        spends = "1 spend" if len(replay.gaps) == 1 else f"{len(replay.gaps):,} spends"
        gaps = f", {spends} not covered"
    return f"Balance {period_text} simulated: topped up {times}{gaps}, {end} credits today."


def next_top_up_text(account: Account, ledger: DailyHistory, today: date) -> str:
    """When the next top-up is expected. Holds are ignored, because a top-up depends on the balance
    and not on the available credits."""
    pattern = build_spending_pattern(ledger.days, ledger.first_full_day or today, today)
    if not pattern.has_enough_days:
        return "not enough data"
    above_threshold = (
        account.balance - TopUpOffer(True, account.balance, account.monthly_credits).threshold
    )
    if above_threshold < 0:
        return "with the next spending through the API"
    # The next top-up comes on the day on which the credits above the threshold run out.
    run_out = forecast_run_out(
        ForecastStart(today, round_to_whole_credits(above_threshold)),
        pattern,
        f"{account.pk} {today}",
    )
    if run_out.median is None:
        return f"not before {run_out.until.day} {run_out.until:%b}"
    return f"{run_out.median:%a} {run_out.median.day} {run_out.median:%b}"
