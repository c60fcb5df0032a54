"""The spend chart by member or by feature: per day, for long periods per week or month."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any

from django.db.models import F, QuerySet

from dashboard.ledger.queries.period import Granularity, TruncToGranularity
from dashboard.ledger.queries.scope import LedgerScope
from dashboard.ledger.queries.totals import (
    ZERO_CREDITS,
    LedgerTotals,
    SplitQueries,
    iter_feature_sums,
)
from dashboard.shared.charts import (
    OTHERS_TONE,
    OUTSIDE_TONE,
    BarChart,
    BarColumn,
    BarSeries,
    assign_member_tones,
    build_bar_chart,
)
from dashboard.shared.charts.scale import SERIES_TONES
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import credits
from dashboard.shared.people import TeamPerson

REST_SERIES = (
    BarSeries("others", "Others", OTHERS_TONE),
    BarSeries("outside", "Outside the portal", OUTSIDE_TONE),
)


def build_spend_split(scope: LedgerScope, people: Sequence[TeamPerson]) -> SplitQueries:
    """The split that `load_ledger_totals` adds: the spend of each member or feature in each
    step."""
    debits = {"is_credit": False, "is_matched": True}
    if not scope.filters.by:
        sums = scope.sums("member").filter(**debits, member__in=member_tones(people))
        return (sums.annotate(key=F("member_id"), start=TruncToGranularity("day", scope.step)),)
    if scope.step is Granularity.MONTH:
        parts: Iterable[QuerySet[Any]] = iter_feature_sums(scope)
    else:
        parts = (scope.sums("operation").annotate(start=TruncToGranularity("day", scope.step)),)
    return tuple(part.filter(**debits).annotate(key=F("operation")) for part in parts)


def build_spend_chart(
    scope: LedgerScope, totals: LedgerTotals, people: Sequence[TeamPerson]
) -> BarChart:
    """The chart of totals that were loaded with the split."""
    stacks = build_feature_series(totals) if scope.filters.by else build_member_series(people)
    stack_keys, first_day = {series.key for series in stacks}, cache(scope.step.first_day)
    amounts: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for (step_start, key), amount in totals.parts.items():
        amounts[step_start][key if key in stack_keys else "others"] += amount
    for day, figures in totals.days.items():
        amounts[first_day(day)]["outside"] += figures.outside
        amounts[first_day(day)]["whole"] += figures.spent
    for split in amounts.values():
        # The split has only the members with their own colour.
        unsplit = split.pop("whole", ZERO_CREDITS) - sum(split.values(), ZERO_CREDITS)
        split["others"] += max(ZERO_CREDITS, unsplit)
    columns = tuple(iter_spend_columns(scope, amounts))
    return build_bar_chart((*stacks, *REST_SERIES), columns, spend_chart_text(scope, totals))


def member_tones(people: Sequence[TeamPerson]) -> dict[int, str]:
    """The colour by member id, in order of joining; members who share the common colour are left
    out."""
    tones = assign_member_tones(person.id for person in people)
    return {key: tone for key, tone in tones.items() if tone != OTHERS_TONE}


def build_member_series(people: Sequence[TeamPerson]) -> tuple[BarSeries, ...]:
    names = {person.id: person.first_name for person in people}
    return tuple(
        BarSeries(str(key), names[key], tone) for key, tone in member_tones(people).items()
    )


def build_feature_series(totals: LedgerTotals) -> tuple[BarSeries, ...]:
    spent: dict[str, Decimal] = defaultdict(Decimal)
    for (_, operation), amount in totals.parts.items():
        spent[operation] += amount
    largest = sorted(spent, key=lambda name: (-spent[name], name))
    return tuple(
        BarSeries(name, feature_label(name), tone)
        for name, tone in zip(largest, SERIES_TONES, strict=False)
    )


def iter_spend_columns(
    scope: LedgerScope, amounts: Mapping[date, Mapping[str, Decimal]]
) -> Iterator[BarColumn]:
    step, (first, last) = scope.step, scope.charted_days
    now = step.first_day(scope.today)
    days = (first + timedelta(days=number) for number in range((last - first).days + 1))
    for start in dict.fromkeys(map(step.first_day, days)):
        is_now = start == now
        short_label = "today" if is_now and step is Granularity.DAY else step.short_label(start)
        yield BarColumn(step.label(start), short_label, amounts.get(start, {}), is_now=is_now)


def spend_chart_text(scope: LedgerScope, totals: LedgerTotals) -> str:
    spent = totals.total.spent
    if not spent:
        return f"{scope.period.label}: nothing was spent."
    most = max(totals.days, key=lambda day: totals.days[day].spent)
    return (
        f"{scope.period.label}: {credits(spent)} credits were spent, the most on {most:%a} "
        f"{most.day} {most:%b %Y}, {credits(totals.days[most].spent)}. "
        f"{credits(totals.total.outside)} of them outside the portal."
    )
