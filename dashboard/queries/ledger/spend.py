"""Spend per day as a chart, by member or by feature; of long periods per week or month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache

from django.db.models import F

from dashboard.queries.charts import OTHERS, OUTSIDE, Bars, Column, Series, bars_of, tones
from dashboard.queries.charts.tones import TONES
from dashboard.queries.ledger.figures import NOTHING, Books, Split
from dashboard.queries.ledger.people import Person
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import feature
from dashboard.templatetags.reelroom import credits

DAILY, WEEKLY = 62, 400  # days of a period that are drawn as such
REST = (Series("others", "Others", OTHERS), Series("outside", "Outside the portal", OUTSIDE))


def split_of(scope: Scope, people: Sequence[Person]) -> Split:
    """What the books are asked besides: who, or what, spent how much on each day."""
    debits = {"is_credit": False, "is_matched": True}
    if scope.filters.by:
        features: Split = scope.sums("operation").filter(**debits).annotate(key=F("operation"))
        return features
    members: Split = scope.sums("member").filter(**debits, member__in=first(people))
    keyed: Split = members.annotate(key=F("member_id"))
    return keyed


def spend_of(scope: Scope, books: Books, people: Sequence[Person]) -> Bars:
    """The chart of books that were asked for the split."""
    stacks = features(books) if scope.filters.by else members(people)
    told, (step, name) = {one.key for one in stacks}, steps(scope, books)
    step = cache(step)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for (day, key), amount in books.parts.items():
        amounts[step(day)][key if key in told else "others"] += amount
    for day, figures in books.days.items():
        amounts[step(day)]["outside"] += figures.outside
        amounts[step(day)]["whole"] += figures.spent
    for split in amounts.values():
        # Of members only the first few were asked for.
        rest = split.pop("whole", NOTHING) - sum(split.values(), NOTHING)
        split["others"] += max(NOTHING, rest)
    columns = [
        Column(*name(day), amounts.get(day, {}), is_now=day == step(scope.today))
        for day in days_between(scope, books, step)
    ]
    return bars_of((*stacks, *REST), columns, sentence(scope, books))


def first(people: Sequence[Person]) -> dict[int, str]:
    """Members with a colour of their own, in the order of joining; the others have one together."""
    told = tones(one.id for one in people)
    return {key: tone for key, tone in told.items() if tone != OTHERS}


def members(people: Sequence[Person]) -> tuple[Series, ...]:
    names = {one.id: one.first_name for one in people}
    return tuple(Series(str(key), names[key], tone) for key, tone in first(people).items())


def features(books: Books) -> tuple[Series, ...]:
    whole: dict[str, Decimal] = defaultdict(Decimal)
    for (_, operation), amount in books.parts.items():
        whole[operation] += amount
    largest = sorted(whole, key=lambda name: (-whole[name], name))
    return tuple(Series(one, feature(one), tone) for one, tone in zip(largest, TONES, strict=False))


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
