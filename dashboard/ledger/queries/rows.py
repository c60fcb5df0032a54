"""One page of ledger rows by cursor; the daily sums locate their days, so that no page is slow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from operator import attrgetter
from typing import Any, TypeAlias, cast

from django.db.models import Q, QuerySet, Value

from dashboard.ledger.queries.scope import LedgerScope, LedgerSearchResult
from dashboard.ledger.queries.totals import CreditTotals, LedgerTotals
from dashboard.models import annotate_outside_source
from dashboard.shared.feature_labels import (
    CONFIDENCE_LABELS,
    OTHER_TEAM_LABEL,
    OUTSIDE_LABEL,
    entry_title,
)
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.ledger_agreement import ledger_end_balance
from dashboard.shared.query_params import Cursor
from proxyapi.models import Account, DailyTotal, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.ledger_entry import is_charged_by_another_team
from proxyapi.rollups.daily_totals import CreditSum, day_bounds

TimeSpan: TypeAlias = tuple[datetime, datetime]  # start included, end excluded
LEDGER_PAGE_SIZE = 50
ONE_MICROSECOND = timedelta(microseconds=1)
ROW_ORDER = ("happened_at", "account_id", "position")
ROW_FIELDS = (
    *("account_id", "position", "label", "content_type", "amount", "happened_at", "operation"),
    *("charge_id", "confidence", "reason", "member__name", "member__email"),
    *("job__title", "job__kind", "job__hidden_at"),
)
ZERO_CREDITS = Decimal(0)
NEWER, LATER = "newer", "later"


@dataclass(frozen=True, slots=True)
class LedgerDay:
    """`net` is the sum of all filtered rows of the day, not only of those shown."""

    title: str
    net: Decimal
    rows: list[dict[str, Any]]

    @property
    def direction(self) -> str:
        return "in" if self.net > 0 else "out"


@dataclass(frozen=True, slots=True)
class LedgerRowsPage:
    """`newest_key` is the highest row key, from which the next refresh detects new rows."""

    days: list[LedgerDay]
    row_count: int
    newest_key: int
    next_url: str
    first_url: str
    has_balances: bool


def build_ledger_rows_page(
    scope: LedgerScope, totals: LedgerTotals, known_key: int | None = None
) -> LedgerRowsPage:
    """Two queries. Rows with a key above `known_key` are marked as new; none if it is None."""
    rows = list(query_listed_rows(scope, totals))
    listed, filters = rows[:LEDGER_PAGE_SIZE], scope.filters
    has_more = len(rows) > LEDGER_PAGE_SIZE
    balances = load_running_balances(scope, listed[::-1] if filters.oldest_first else listed)
    return LedgerRowsPage(
        days=list(group_rows_by_day(listed, scope, totals, balances, known_key)),
        row_count=len(listed),
        newest_key=max((entry.pk for entry in listed), default=known_key or 0),
        next_url=filters.url(after=Cursor(attrgetter(*ROW_ORDER)(listed[-1]))) if has_more else "",
        first_url=filters.url() if filters.after else "",
        has_balances=bool(balances),
    )


def query_listed_rows(scope: LedgerScope, totals: LedgerTotals) -> QuerySet[LedgerEntry]:
    rows = query_next_rows(scope, totals, scope.filters.after, LEDGER_PAGE_SIZE + 1)
    rows = rows.annotate(is_another_teams=is_charged_by_another_team())
    rows = annotate_outside_source(rows, scope.zone, "name")
    return rows.select_related("member", "job").only(*ROW_FIELDS)


def query_next_rows(
    scope: LedgerScope, totals: LedgerTotals, after: Cursor | None, count: int
) -> QuerySet[LedgerEntry]:
    """The next rows by id, so that joins apply to these only and not to all rows that are
    sorted."""
    ids = slice_next_rows(scope, totals, after, count).values("pk")
    return LedgerEntry.objects.filter(pk__in=ids).order_by(*row_ordering(scope))


def slice_next_rows(
    scope: LedgerScope, totals: LedgerTotals, after: Cursor | None, count: int
) -> QuerySet[LedgerEntry]:
    """At most `count` next rows in order."""
    span = next_rows_span(scope, totals, after, count)
    if span is None:
        return LedgerEntry.objects.none()
    rows = scope.entries(span)
    if scope.found:
        rows = filter_found_rows(rows, scope.found, span)
    if after:
        rows = rows.filter(rows_after_cursor_q(after, oldest=scope.filters.oldest_first))
    return rows.order_by(*row_ordering(scope))[:count]


def filter_found_rows(
    rows: QuerySet[LedgerEntry], result: LedgerSearchResult, span: TimeSpan
) -> QuerySet[LedgerEntry]:
    """The rows that match the search; each condition uses its own index, because these days have
    few rows."""
    selections = [
        rows.filter(condition).values("pk") for condition in result.iter_indexed_conditions()
    ]
    keys = [row.key for row in result.rows if span[0] <= row.at < span[1]]
    selections.append(LedgerEntry.objects.filter(pk__in=keys).values("pk"))
    return LedgerEntry.objects.filter(pk__in=selections[0].union(*selections[1:]))


def row_ordering(scope: LedgerScope) -> list[str]:
    """Within one account the position alone breaks ties, which matches the order of an index."""
    names = ("happened_at", "position") if len(scope.ids) == 1 else ROW_ORDER
    return [name if scope.filters.oldest_first else f"-{name}" for name in names]


def next_rows_span(
    scope: LedgerScope, totals: LedgerTotals, after: Cursor | None, count: int
) -> TimeSpan | None:
    """The time span of the next rows, so that rows with a rare label are found without a scan.

    It covers the days with sums from the cursor on, or the whole period while sums are recounted
    for another time zone.
    """
    oldest, zone = scope.filters.oldest_first, scope.zone
    if scope.is_recounting:
        return clip_span(scope.period.time_bounds(zone), after, oldest=oldest)
    days = sorted(
        (day for day, day_totals in totals.days.items() if day_totals.rows), reverse=not oldest
    )
    if after:
        # It is unknown how many rows of the cursor's day were listed: perhaps all.
        cursor_day = after[0].astimezone(zone).date()
        days = [day for day in days if (day >= cursor_day if oldest else day <= cursor_day)]
        count += totals.days[cursor_day].rows if cursor_day in totals.days else 0
    needed: list[date] = []
    for day in days:
        needed.append(day)
        count -= totals.days[day].rows
        if count <= 0:
            break
    if not needed:
        return None
    return clip_span(
        (day_bounds(min(needed), zone)[0], day_bounds(max(needed), zone)[1]), after, oldest=oldest
    )


def clip_span(span: TimeSpan, after: Cursor | None, *, oldest: bool) -> TimeSpan:
    start, end = span
    if after and oldest:
        return max(start, after[0]), end
    return (start, min(end, after[0] + ONE_MICROSECOND)) if after else (start, end)


def rows_after_cursor_q(cursor: Cursor, *, oldest: bool) -> Q:
    """The rows after the cursor, among those at or after its time."""
    comparison = "gt" if oldest else "lt"
    at, account, position = cursor
    later = Q(**{f"happened_at__{comparison}": at})
    same_account = Q(account_id=account, **{f"position__{comparison}": position})
    return later | Q(**{f"account_id__{comparison}": account}) | same_account


def group_rows_by_day(
    entries: Iterable[LedgerEntry],
    scope: LedgerScope,
    totals: LedgerTotals,
    balances: Mapping[int, Decimal],
    known_key: int | None,
) -> Iterable[LedgerDay]:
    days: dict[date, list[dict[str, Any]]] = {}
    for entry in entries:
        at, balance = entry.happened_at.astimezone(scope.zone), balances.get(entry.pk)
        days.setdefault(at.date(), []).append(build_ledger_row(entry, at, balance, known_key))
    for day, rows in days.items():
        yield LedgerDay(day_title(day, scope.today), totals.days.get(day, CreditTotals()).net, rows)


def build_ledger_row(
    entry: LedgerEntry, at: datetime, balance: Decimal | None, known_key: int | None
) -> dict[str, Any]:
    """`state` is "outside" or ""; `glyph` and `word` are those of an attribution that is not
    certain. `balance` is the balance after the row, if known; `is_new`: the row was mirrored after
    the page was loaded."""
    is_certain = entry.is_explained and entry.confidence == MatchConfidence.CERTAIN
    state, glyph, word = ("", "", "") if is_certain else attribution_labels(entry)
    return {
        "entry": entry,
        "clock": f"{at:%H:%M}",
        "what": entry_title(entry),
        "job_url": job_page_url(entry.job),
        "state": state,
        "glyph": glyph,
        "word": word,
        "direction": "in" if entry.amount > 0 else "out",
        "balance": balance,
        "is_new": known_key is not None and entry.pk > known_key,
    }


def attribution_labels(entry: LedgerEntry) -> tuple[str, str, str]:
    """The row's state, and glyph and word of its attribution; empty for incoming credits.

    For a debit of another team (annotated, see `belongs_to_other_team`) only that is shown.
    """
    if entry.is_explained:
        return "", *CONFIDENCE_LABELS[entry.confidence]
    name = getattr(entry, "source", None)  # annotated, see `annotate_outside_source`
    outside_label = OTHER_TEAM_LABEL if belongs_to_other_team(entry) else name or OUTSIDE_LABEL
    return ("", "", "") if entry.amount > 0 else ("outside", "outside", outside_label)


def belongs_to_other_team(entry: LedgerEntry) -> bool:
    return bool(getattr(entry, "is_another_teams", False))


def day_title(day: date, today: date) -> str:
    """ "Today, Fri 20 Nov", "Wed 18 Nov", "Wed 18 Nov 2024"."""
    date_text = f"{day:%a} {day.day} {day:%b}{'' if day.year == today.year else f' {day.year}'}"
    return {0: f"Today, {date_text}", 1: f"Yesterday, {date_text}"}.get(
        (today - day).days, date_text
    )


def load_running_balances(scope: LedgerScope, rows: Sequence[LedgerEntry]) -> dict[int, Decimal]:
    """The balance after each row, by row key. One query, or none if the last ledger row is among
    `rows`, which are adjacent and newest first.

    Empty if the rows belong to several accounts, if a filter removed rows between them, or before
    the first balance checkpoint. The balance is known at one place, the last checkpoint
    (`LedgerMirror.balance_exact`). From there the sums of whole days lead to the day of the newest
    row, the later rows of that day to the row itself, and the rows to each other.
    """
    account = account_with_exact_balance(scope)
    if account is None or not rows:
        return {}
    balance = balance_from_ledger_end(account, rows)
    if balance is None:
        balance = load_balance_after_row(scope, account.ledger, rows[0])
    balances = {}
    for row in rows:
        balances[row.pk] = balance
        balance -= row.amount
    return balances


def account_with_exact_balance(scope: LedgerScope) -> Account | None:
    """The only account of the rows, if its balance is known and its sums use the team's time
    zone."""
    if len(scope.ids) != 1 or scope.filters.excludes_rows:
        return None
    account = next(account for account in scope.accounts if account.pk == scope.ids[0])
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if ledger is None or ledger.balance_exact is None or ledger.checkpoint_high is None:
        return None
    return account if ledger.rollup_time_zone == scope.zone.key else None


def balance_from_ledger_end(account: Account, rows: Sequence[LedgerEntry]) -> Decimal | None:
    """The balance after the first row, if the last mirrored row is among `rows`."""
    newer = ZERO_CREDITS
    for row in rows:
        if row.position == account.ledger.high - 1:
            return ledger_end_balance(account) + newer
        newer += row.amount
    return None


def load_balance_after_row(scope: LedgerScope, ledger: LedgerMirror, row: LedgerEntry) -> Decimal:
    """The balance after a row. One statement, so that a row written meanwhile counts on both
    sides."""
    day = row.happened_at.astimezone(scope.zone).date()
    end = day_bounds(day, scope.zone)[1]
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    later = entries.filter(rows_after_q(row), happened_at__gte=row.happened_at, happened_at__lt=end)
    days = DailyTotal.objects.filter(account_id=ledger.pk, day__gt=day)
    newer = entries.filter(position__gte=ledger.checkpoint_high)
    parts = sum_credits_with_key(newer, NEWER).union(
        sum_credits_with_key(later, LATER), sum_credits_with_key(days, LATER), all=True
    )
    balance = ledger.balance_exact or ZERO_CREDITS
    for key, amount in parts:
        balance += (amount if key == NEWER else -amount) if amount else ZERO_CREDITS
    return balance


def rows_after_q(row: LedgerEntry) -> Q:
    return Q(happened_at__gt=row.happened_at) | Q(position__gt=row.position)


def sum_credits_with_key(rows: QuerySet[Any], key: str) -> QuerySet[Any]:
    keyed = rows.order_by().annotate(key=Value(key)).values_list("key")
    return cast("QuerySet[Any]", keyed.annotate(sum=CreditSum("amount")))
