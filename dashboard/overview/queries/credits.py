"""The team's credits: available balance, each account with the time it was read, the plan, the
balance of each day calculated back from today's, and whether balance and ledger agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from django.utils import timezone

from dashboard.overview.queries.sums import (
    ONE_DAY,
    ZERO_CREDITS,
    OverviewSums,
    day_month_text,
    weekday_date_text,
)
from dashboard.shared.charts import (
    AxisTick,
    ChartMark,
    HoverTarget,
    LineChart,
    LinePoint,
    build_line_chart,
)
from dashboard.shared.formatting import credits
from dashboard.shared.ledger_agreement import (
    LedgerAgreement,
    are_ledgers_complete,
    check_ledger_agreement,
    ledger_end_balance,
)
from dashboard.shared.team_balance import ActivityCounts, TeamBalance
from proxyapi.models import Account, SpendingObstacle
from proxyapi.models.credit_price import CreditPrice, common_credit_price

MIN_LABEL_GAP_PERCENT = 8.0  # percent of the width between two amounts that are written out
MIN_LABELLED_FRACTION = Decimal("0.01")  # of the highest balance


@dataclass(frozen=True, slots=True)
class CreditsOverview:
    """`accounts` can be spent: figure, list, chart and agreement are of these alone."""

    team_balance: TeamBalance
    open_charges: int
    accounts: tuple[Account, ...]
    not_spendable: tuple[tuple[Account, str], ...]  # each with its obstacle
    plan: str
    days: tuple[BalanceDay, ...]
    line: LineChart | None
    agreement: LedgerAgreement | None

    @property
    def has_several_accounts(self) -> bool:
        return len(self.accounts) > 1

    @property
    def credit_price(self) -> CreditPrice | None:
        return common_credit_price(self.accounts)

    @property
    def days_newest_first(self) -> tuple[BalanceDay, ...]:
        return self.days[::-1]

    @property
    def as_of(self) -> datetime | None:
        return self.team_balance.as_of


def build_credits_overview(
    loaded: Sequence[Account],
    team_balance: TeamBalance,
    counts: ActivityCounts,
    sums: OverviewSums,
) -> CreditsOverview:
    """`sums` are those of the accounts that can be spent."""
    accounts = [account for account in loaded if not account.spending_obstacle]
    now = sum((ledger_end_balance(account) for account in accounts), ZERO_CREDITS)
    days = build_balance_days(now, sums, is_complete=are_ledgers_complete(accounts))
    return CreditsOverview(
        team_balance=team_balance,
        open_charges=counts.holding,
        accounts=tuple(accounts),
        not_spendable=tuple(
            (account, SpendingObstacle(account.spending_obstacle).label)
            for account in loaded
            if account.spending_obstacle
        ),
        plan=account_plan_sentence(loaded),
        days=days,
        line=build_balance_chart(days),
        agreement=check_ledger_agreement(accounts),
    )


def account_plan_sentence(loaded: Sequence[Account]) -> str:
    """`One shared account: Studio plan, 12,000 credits a month, renews Tue 1 Dec.`"""
    if not loaded:
        return "No account yet. Credits appear when a member adds a token."
    accounts = [account for account in loaded if not account.spending_obstacle]
    if not accounts:
        reasons = {SpendingObstacle(account.spending_obstacle).label for account in loaded}
        which = "The account" if len(loaded) == 1 else f"All {len(loaded)} accounts"
        return f"{which} cannot be spent: {', '.join(sorted(reasons))}."
    left = len(loaded) - len(accounts)
    others = f" {left} more cannot be spent." if left else ""
    if len(accounts) > 1:
        monthly = sum((account.monthly_credits for account in accounts), Decimal(0))
        return f"{len(accounts)} accounts, {credits(monthly)} credits a month in total.{others}"
    account = accounts[0]
    parts = [f"{account.plan_name or account.get_plan_display()} plan"]
    if account.monthly_credits:
        parts.append(f"{credits(account.monthly_credits)} credits a month")
    if account.plan_ends_at:
        ends = timezone.localdate(account.plan_ends_at)
        parts.append(
            f"{'renews' if account.plan_ends_at > timezone.now() else 'ended'} "
            f"{weekday_date_text(ends)}"
        )
    return f"One shared account: {', '.join(parts)}.{others}"


@dataclass(frozen=True, slots=True)
class BalanceDay:
    """Credits of one day; `credit_labels` are the labels of its credit entries."""

    day: date
    opening_balance: Decimal
    debited: Decimal
    credited: Decimal
    refunded_credits: Decimal
    credit_labels: tuple[str, ...]

    @property
    def name(self) -> str:
        return weekday_date_text(self.day)

    @property
    def midday_balance(self) -> Decimal:
        before = self.opening_balance - self.debited / 2
        return before if before >= 0 else self.opening_balance

    @property
    def closing_balance(self) -> Decimal:
        return self.opening_balance - self.debited + self.credited


def build_balance_days(
    now: Decimal, sums: OverviewSums, *, is_complete: bool
) -> tuple[BalanceDay, ...]:
    """`now` is the balance that matches the sums. Empty without ledger entries.

    With an incomplete ledger the first day is left out, because it may be partial.
    """
    first = sums.first_day
    if first is not None and not is_complete:
        first += ONE_DAY
    if first is None or first > sums.window.today:
        return ()
    return tuple(iter_balance_days(now, sums, max(first, sums.window.first)))


def build_balance_chart(days: Sequence[BalanceDay]) -> LineChart | None:
    """None without days."""
    if not days:
        return None
    step = 100 / len(days)
    return build_line_chart(
        list(balance_points(days, step)),
        balance_summary_sentence(days),
        ticks=[
            AxisTick(index * step, day_month_text(day.day), "start" if index == 0 else "middle")
            for index, day in enumerate(days)
        ]
        + [AxisTick(100, "today", "end", is_strong=True)],
        marks=balance_markers(days, step),
        stops=[
            HoverTarget(index * step, step, day_hover_text(day)) for index, day in enumerate(days)
        ],
        says=f"{credits(days[0].opening_balance)} cr before {day_month_text(days[0].day)}, "
        f"{credits(days[-1].closing_balance)} now.",
    )


def day_hover_text(balance_day: BalanceDay) -> str:
    """`Thu 20 Nov: 4,318 cr at the end of the day. 96 went, 2,000 came.`"""
    amounts_and_verbs = ((balance_day.debited, "went"), (balance_day.credited, "came"))
    moved = ", ".join(f"{credits(amount)} {verb}" for amount, verb in amounts_and_verbs if amount)
    return (
        f"{balance_day.name}: {credits(balance_day.closing_balance)} cr at the end of the day. "
        f"{moved or 'No changes'}."
    )


def iter_balance_days(now: Decimal, sums: OverviewSums, first: date) -> Iterator[BalanceDay]:
    credited: dict[date, Decimal] = defaultdict(Decimal)
    refunded: dict[date, Decimal] = defaultdict(Decimal)
    labels: dict[date, list[str]] = defaultdict(list)
    opening_balance = now
    for day, rows in sums.days.items():
        for row in rows if day >= first else ():
            opening_balance -= row.amount
            if row.is_credit:
                credited[day] += row.amount
                refunded[day] += row.amount if row.is_matched else ZERO_CREDITS
                labels[day].append(row.label)
    day = first
    while day <= sums.window.today:
        debited = sums.debits.get(day, ZERO_CREDITS)
        balance_day = BalanceDay(
            day, opening_balance, debited, credited[day], refunded[day], tuple(labels[day])
        )
        yield balance_day
        opening_balance, day = balance_day.closing_balance, day + ONE_DAY


def balance_points(days: Sequence[BalanceDay], step: float) -> Iterator[LinePoint]:
    """The balance at the end of each day is exact. The time of a credit within its day is not in
    the daily sum, so it is drawn at midday, after half of the day's spend if the balance covered
    that."""
    yield LinePoint(0, days[0].opening_balance)
    for index, day in enumerate(days):
        if day.credited:
            x = (index + 0.5) * step
            yield LinePoint(x, day.midday_balance)
            yield LinePoint(x, day.midday_balance + day.credited)
        yield LinePoint((index + 1) * step, day.closing_balance)


def balance_markers(days: Sequence[BalanceDay], step: float) -> list[ChartMark]:
    """A marker for each day with credits. The largest are labelled with their amount as far as the
    labels fit; an amount too small to see in the line has no label."""
    min_labelled_credits = (
        max(max(day.opening_balance, day.closing_balance) for day in days) * MIN_LABELLED_FRACTION
    )
    label_positions: list[float] = []
    markers: list[ChartMark] = []
    days_with_credits = [(index, day) for index, day in enumerate(days) if day.credited]
    for index, day in sorted(
        days_with_credits, key=lambda index_and_day: -index_and_day[1].credited
    ):
        point = LinePoint((index + 0.5) * step, day.midday_balance + day.credited)
        has_room = day.credited >= min_labelled_credits and all(
            abs(point.x - other) >= MIN_LABEL_GAP_PERCENT for other in label_positions
        )
        label_positions += [point.x] if has_room else []
        label = f"+{credits(day.credited)}" if has_room else ""
        markers.append(ChartMark(point, "in", credits_received_text(day), label))
    last = days[-1]
    return [
        *markers,
        ChartMark(
            LinePoint(100, last.closing_balance), "now", "now", credits(last.closing_balance)
        ),
    ]


def credits_received_text(day: BalanceDay) -> str:
    """`1 Nov: +2,000 credits, Auto top-up`"""
    labels = ", ".join(sorted({label for label in day.credit_labels if label}))
    return (
        f"{day_month_text(day.day)}: +{credits(day.credited)} "
        f"credits{f', {labels}' if labels else ''}"
    )


def balance_summary_sentence(days: Sequence[BalanceDay]) -> str:
    credit_dates = [day_month_text(day.day) for day in days if day.credited > day.refunded_credits]
    credits_added_text = f" Credits added on {', '.join(credit_dates)}." if credit_dates else ""
    return (
        f"Balance from {weekday_date_text(days[0].day)} to today: from "
        f"{credits(days[0].opening_balance)} to "
        f"{credits(days[-1].closing_balance)} credits.{credits_added_text}"
    )
