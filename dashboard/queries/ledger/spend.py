"""Spend per day as a chart, by member or by feature; of long periods per week or month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

from dashboard.models import Membership
from dashboard.queries.charts import OTHERS, OUTSIDE, Bars, Column, Series, bars_of, tones
from dashboard.queries.charts.tones import TONES
from dashboard.queries.ledger.figures import NOTHING, Books
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import feature
from dashboard.templatetags.reelroom import credits
from proxyapi.day_sums import CreditSum

DAILY, WEEKLY = 62, 400  # days of a period that are drawn as such
Amounts = Mapping[tuple[date, str], Decimal]


def spend_of(scope: Scope, books: Books, people: Sequence[Membership]) -> Bars:
    """One query: what the first members, or the largest features, spent on each day."""
    stacks, parts = by_feature(scope) if scope.filters.by else by_member(scope, people)
    step, name = steps(scope, books)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for (day, key), amount in parts.items():
        amounts[step(day)][key] += amount
    for day, figures in books.days.items():
        told = amounts[step(day)]
        told["outside"] += figures.outside
        told["whole"] += figures.spent
    for told in amounts.values():
        rest = told.pop("whole", NOTHING)
        told["others"] = max(NOTHING, rest - sum(told.values(), NOTHING))
    series = (
        *stacks,
        Series("others", "Others", OTHERS),
        Series("outside", "Outside the portal", OUTSIDE),
    )
    columns = [
        Column(*name(day), amounts.get(day, {}), is_now=day == step(scope.today))
        for day in days_between(scope, books, step)
    ]
    return bars_of(series, columns, sentence(scope, books))


def by_member(scope: Scope, people: Sequence[Membership]) -> tuple[tuple[Series, ...], Amounts]:
    """Colours go in the order of joining; who came after the first few is with the others."""
    told = tones(one.user_id for one in people)
    first = {key: tone for key, tone in told.items() if tone != OTHERS}
    names = {one.user_id: one.user.first_name for one in people}
    spent = scope.member_sums().filter(is_credit=False, is_matched=True, member_id__in=list(first))
    rows = spent.order_by().values_list("day", "member_id").annotate(sum=CreditSum("amount"))
    series = tuple(Series(str(key), names[key], tone) for key, tone in first.items())
    return series, {(day, str(member)): -amount for day, member, amount in rows}


def by_feature(scope: Scope) -> tuple[tuple[Series, ...], Amounts]:
    spent = scope.sums().filter(is_credit=False, is_matched=True)
    rows = spent.order_by().values_list("day", "operation").annotate(sum=CreditSum("amount"))
    parts: dict[tuple[date, str], Decimal] = {}
    whole: dict[str, Decimal] = defaultdict(Decimal)
    for day, operation, amount in rows:
        parts[day, operation] = -amount
        whole[operation] -= amount
    largest = sorted(whole, key=lambda name: (-whole[name], name))[: len(TONES)]
    series = tuple(
        Series(name, feature(name), tone) for name, tone in zip(largest, TONES, strict=False)
    )
    return series, {key: amount for key, amount in parts.items() if key[1] in largest}


def steps(
    scope: Scope, books: Books
) -> tuple[Callable[[date], date], Callable[[date], tuple[str, str]]]:
    """The first day of the column that a day belongs to, and what a column is called."""
    first, last = span(scope, books)
    if (days := (last - first).days + 1) <= DAILY:
        return lambda day: day, day_names(scope.today)
    if days <= WEEKLY:
        return monday, lambda day: (f"Week of {day.day} {day:%b %Y}", f"{day.day} {day:%b}")
    return lambda day: day.replace(day=1), lambda day: (f"{day:%B %Y}", f"{day:%b %Y}")


def day_names(today: date) -> Callable[[date], tuple[str, str]]:
    def name(day: date) -> tuple[str, str]:
        short = "today" if day == today else f"{day.day} {day:%b}"
        return f"{day:%a} {day.day} {day:%b}", short

    return name


def monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def span(scope: Scope, books: Books) -> tuple[date, date]:
    """The days of the period, without the years before the first row."""
    period = scope.period
    if period.days <= WEEKLY:
        return period.first, period.last
    return min(books.days, default=period.last), period.last


def days_between(scope: Scope, books: Books, step: Callable[[date], date]) -> Iterable[date]:
    first, last = span(scope, books)
    whole = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return dict.fromkeys(step(day) for day in whole)


def sentence(scope: Scope, books: Books) -> str:
    spent = books.whole.spent
    if not spent:
        return f"{scope.period.says}: nothing was spent."
    most = max(books.days, key=lambda day: books.days[day].spent)
    return (
        f"{scope.period.says}: {credits(spent)} credits were spent, the most on {most:%a} "
        f"{most.day} {most:%b %Y}, {credits(books.days[most].spent)}. "
        f"{credits(books.whole.outside)} of them outside the portal."
    )
