"""Spend per day as a chart, by member or by feature; of long periods per week or month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from django.db.models import F, QuerySet

from dashboard.queries.charts import OTHERS, OUTSIDE, Bars, Column, Series, bars_of, tones
from dashboard.queries.charts.tones import TONES
from dashboard.queries.ledger.figures import NOTHING, Books, Split
from dashboard.queries.ledger.months import by_feature
from dashboard.queries.ledger.people import Person
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.steps import StartOf, Step
from dashboard.queries.ledger.words import feature
from dashboard.templatetags.reelroom import credits

REST = (Series("others", "Others", OTHERS), Series("outside", "Outside the portal", OUTSIDE))


def split_of(scope: Scope, people: Sequence[Person]) -> Split:
    """What the books are asked besides: who, or what, spent how much in each step."""
    debits = {"is_credit": False, "is_matched": True}
    if not scope.filters.by:
        sums = scope.sums("member").filter(**debits, member__in=first(people))
        return (sums.annotate(key=F("member_id"), start=StartOf("day", scope.step)),)
    if scope.step is Step.MONTH:
        parts: Iterable[QuerySet[Any]] = by_feature(scope)
    else:
        parts = (scope.sums("operation").annotate(start=StartOf("day", scope.step)),)
    return tuple(part.filter(**debits).annotate(key=F("operation")) for part in parts)


def spend_of(scope: Scope, books: Books, people: Sequence[Person]) -> Bars:
    """The chart of books that were asked for the split."""
    stacks = features(books) if scope.filters.by else members(people)
    told, start = {one.key for one in stacks}, cache(scope.step.start)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for (begun, key), amount in books.parts.items():
        amounts[begun][key if key in told else "others"] += amount
    for day, figures in books.days.items():
        amounts[start(day)]["outside"] += figures.outside
        amounts[start(day)]["whole"] += figures.spent
    for split in amounts.values():
        # Of members only the first few were asked for.
        rest = split.pop("whole", NOTHING) - sum(split.values(), NOTHING)
        split["others"] += max(NOTHING, rest)
    columns = tuple(columns_of(scope, amounts))
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


def columns_of(scope: Scope, amounts: Mapping[date, Mapping[str, Decimal]]) -> Iterator[Column]:
    step, (first, last) = scope.step, scope.span
    now = step.start(scope.today)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    for start in dict.fromkeys(map(step.start, days)):
        is_now = start == now
        short = "today" if is_now and step is Step.DAY else step.short(start)
        yield Column(step.said(start), short, amounts.get(start, {}), is_now=is_now)


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
