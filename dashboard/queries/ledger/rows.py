"""One page of ledger rows, by key: the sums tell in which days they lie, so no page is slow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

from django.db.models import Q, QuerySet
from django.urls import reverse

from dashboard.queries.address import job_url
from dashboard.queries.ledger.balances import balances_of
from dashboard.queries.ledger.figures import Books, Figures
from dashboard.queries.ledger.filters import Place
from dashboard.queries.ledger.found import Found
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import OTHER_TEAM, OUTSIDE, SURE, what
from proxyapi.models import LedgerEntry
from proxyapi.models.ledger_entry import is_charged_by_another_team
from proxyapi.rollups.daily_totals import day_bounds

Span: TypeAlias = tuple[datetime, datetime]  # from the first moment on, until before the second
PAGE = 50
INSTANT = timedelta(microseconds=1)
ORDER = ("happened_at", "account_id", "position")
SHOWN = (
    *("account_id", "position", "label", "content_type", "amount", "happened_at", "operation"),
    *("charge_id", "confidence", "reason", "member__name", "member__email"),
    *("job__title", "job__hidden_at"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """`state` is that of the row: outside, or nothing; `glyph`, `word` and `reason` tell how sure
    the attribution is. `balance`: after it, where that is known. `is_new`: it came since the page
    was made."""

    url: str
    clock: str
    what: str
    kind: str
    who: str
    initials: str
    job: str
    job_url: str
    state: str
    glyph: str
    word: str
    reason: str
    amount: Decimal
    balance: Decimal | None
    is_new: bool

    @property
    def is_(self) -> str:
        return "in" if self.amount > 0 else "out"


@dataclass(frozen=True, slots=True)
class Day:
    """`net` is what all rows of the day add up to that the filters leave, not only those shown."""

    title: str
    net: Decimal
    rows: tuple[Row, ...]

    @property
    def is_(self) -> str:
        return "in" if self.net > 0 else "out"


@dataclass(frozen=True, slots=True)
class Page:
    """`newest` is the key of the row that came last, for the next look to tell what is new."""

    days: tuple[Day, ...]
    shown: int
    newest: int
    next_url: str
    first_url: str
    balanced: bool


def page_of(scope: Scope, books: Books, known: int | None = None) -> Page:
    """Two queries. `known`: keys above it are new to the reader; None: nothing is."""
    found = list(found_rows(scope, books))
    listed, filters = found[:PAGE], scope.filters
    more = len(found) > PAGE
    balances = balances_of(scope, listed[::-1] if filters.oldest else listed)
    return Page(
        days=tuple(grouped(listed, scope, books, balances, known)),
        shown=len(listed),
        newest=max((entry.pk for entry in listed), default=known or 0),
        next_url=filters.url(after=place_of(listed[-1])) if more else "",
        first_url=filters.url() if filters.after else "",
        balanced=bool(balances),
    )


def found_rows(scope: Scope, books: Books) -> QuerySet[LedgerEntry]:
    rows = joined(scope, books, scope.filters.after, PAGE + 1)
    rows = rows.annotate(is_another_teams=is_charged_by_another_team())
    return rows.select_related("member", "job").only(*SHOWN)


def joined(scope: Scope, books: Books, after: Place | None, count: int) -> QuerySet[LedgerEntry]:
    """The next rows, ready to be joined: only these are, and not all that are sorted."""
    ids = stretch(scope, books, after, count).values("pk")
    return LedgerEntry.objects.filter(pk__in=ids).order_by(*order_of(scope))


def stretch(scope: Scope, books: Books, after: Place | None, count: int) -> QuerySet[LedgerEntry]:
    """The next rows in order, so many at most."""
    span = within(scope, books, after, count)
    if span is None:
        return LedgerEntry.objects.none()
    rows = scope.entries(span)
    if scope.found:
        rows = found_among(rows, scope.found, span)
    if after:
        rows = rows.filter(beyond(after, oldest=scope.filters.oldest))
    return rows.order_by(*order_of(scope))[:count]


def found_among(rows: QuerySet[LedgerEntry], found: Found, span: Span) -> QuerySet[LedgerEntry]:
    """Each way along its own index: these days have few rows of any."""
    ways = [rows.filter(way).values("pk") for way in found.ways()]
    keys = [row.key for row in found.rows if span[0] <= row.at < span[1]]
    ways.append(LedgerEntry.objects.filter(pk__in=keys).values("pk"))
    return LedgerEntry.objects.filter(pk__in=ways[0].union(*ways[1:]))


def order_of(scope: Scope) -> list[str]:
    """Of one account the position alone breaks a tie: that is the order of an index."""
    names = ("happened_at", "position") if len(scope.ids) == 1 else ORDER
    return [name if scope.filters.oldest else f"-{name}" for name in names]


def within(scope: Scope, books: Books, after: Place | None, count: int) -> Span | None:
    """Where the next rows lie, so that a rare label is found without a search: the days that the
    sums tell of, from the place on; of the whole period while these are days of another zone."""
    oldest, zone = scope.filters.oldest, scope.zone
    if scope.is_recounted:
        return cut(scope.period.moments(zone), after, oldest=oldest)
    days = sorted((day for day, it in books.days.items() if it.rows), reverse=not oldest)
    if after:
        # How many rows of its day were listed is not known: perhaps all.
        on = after.at.astimezone(zone).date()
        days = [day for day in days if (day >= on if oldest else day <= on)]
        count += books.days[on].rows if on in books.days else 0
    needed: list[date] = []
    for day in days:
        needed.append(day)
        count -= books.days[day].rows
        if count <= 0:
            break
    if not needed:
        return None
    return cut(
        (day_bounds(min(needed), zone)[0], day_bounds(max(needed), zone)[1]), after, oldest=oldest
    )


def cut(span: Span, after: Place | None, *, oldest: bool) -> Span:
    start, end = span
    if after and oldest:
        return max(start, after.at), end
    return (start, min(end, after.at + INSTANT)) if after else (start, end)


def beyond(place: Place, *, oldest: bool) -> Q:
    """What comes after a row, of those from its time on."""
    past = "gt" if oldest else "lt"
    later = Q(**{f"happened_at__{past}": place.at})
    same_account = Q(account_id=place.account, **{f"position__{past}": place.position})
    return later | Q(**{f"account_id__{past}": place.account}) | same_account


def place_of(entry: LedgerEntry) -> Place:
    return Place(entry.happened_at, entry.account_id, entry.position)


def grouped(
    entries: Iterable[LedgerEntry],
    scope: Scope,
    books: Books,
    balances: Mapping[int, Decimal],
    known: int | None,
) -> Iterable[Day]:
    days: dict[date, list[Row]] = {}
    for entry in entries:
        at, left = entry.happened_at.astimezone(scope.zone), balances.get(entry.pk)
        days.setdefault(at.date(), []).append(row_of(entry, at, left, known))
    for day, rows in days.items():
        yield Day(titled(day, scope.today), books.days.get(day, Figures()).net, tuple(rows))


def row_of(entry: LedgerEntry, at: datetime, balance: Decimal | None, known: int | None) -> Row:
    state, glyph, word = attributed(entry)
    job = entry.job
    return Row(
        url=reverse("ledger-entry", args=[entry.account_id, entry.position]),
        clock=f"{at:%H:%M}",
        what=what(entry),
        kind=entry.content_type,
        who=str(entry.member) if entry.member else "",
        initials=entry.member.initials if entry.member else "",
        job=job.title if job else "",
        job_url=job_url(job),
        state=state,
        glyph=glyph,
        word=word,
        reason=entry.reason,
        amount=entry.amount,
        balance=balance,
        is_new=known is not None and entry.pk > known,
    )


def attributed(entry: LedgerEntry) -> tuple[str, str, str]:
    """The row's state, and glyph and word of the attribution; credits that came need none.

    Of another team's (`is_another_teams`, annotated) that is all that is told.
    """
    if entry.charge_id:
        return "", *SURE[entry.confidence]
    whose = OTHER_TEAM if is_another_teams(entry) else OUTSIDE
    return ("", "", "") if entry.amount > 0 else ("outside", "outside", whose)


def is_another_teams(entry: LedgerEntry) -> bool:
    return bool(getattr(entry, "is_another_teams", False))


def titled(day: date, today: date) -> str:
    """ "Today, Fri 20 Nov", "Wed 18 Nov", "Wed 18 Nov 2024"."""
    said = f"{day:%a} {day.day} {day:%b}{'' if day.year == today.year else f' {day.year}'}"
    return {0: f"Today, {said}", 1: f"Yesterday, {said}"}.get((today - day).days, said)
