"""How an account's days went, as the forecast asks: whole credits by day, and since when they are
known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Exists, Sum

from proxyapi.forecast import DailyCredits
from proxyapi.models import Account, DailyTotal
from proxyapi.rollups.daily_totals import CreditSum

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
