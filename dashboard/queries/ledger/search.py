"""What a text names: labels of the service, features, people, videos.

No index holds the words of a million rows. So the text is looked for in the few names that rows
have, and the rows are asked for by these: a label, a feature and a member have sums and an index,
and the rows of some videos are few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from django.db.models import (
    BooleanField,
    ExpressionWrapper,
    F,
    FilteredRelation,
    Q,
    QuerySet,
    Subquery,
    Window,
)
from django.db.models.functions import Coalesce, DenseRank

from dashboard.queries.ledger.found import Found, Gap, Row
from dashboard.queries.ledger.people import Person
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import feature
from proxyapi.models import Job
from proxyapi.rollups.ledger_names import LedgerNames, load_ledger_names

PEOPLE, VIDEOS = 20, 100  # that one text may name
TITLES = 10_000  # that are looked through of the videos of a long ledger
LONG = 100_000  # rows
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
NEWEST = [F("created_at").desc(), F("pk").desc()]
COLUMNS = (
    *("nth", "row__pk", "row__happened_at", "row__amount", "matched", "row__label"),
    *("row__operation", "row__member"),
)


def searched(scope: Scope, people: Sequence[Person]) -> Scope:
    """The scope with what its text names. Two queries, none without a text."""
    if not scope.filters.search:
        return scope
    text = scope.filters.search.casefold()
    names = names_in(scope)
    members = [one.id for one in people if text in one.name.casefold()]
    found = Found(
        names=names,
        labels=frozenset(one for one in names.labels if text in one.casefold()),
        operations=frozenset(one for one in names.operations if text in feature(one).casefold()),
        members=frozenset(members[:PEOPLE]),
    )
    rows, more = rows_of_videos(scope, found)
    much = [f"the newest {VIDEOS} videos"] if more else []
    much += [f"the first {PEOPLE} people"] if len(members) > PEOPLE else []
    return replace(scope, found=replace(found, rows=rows, gaps=tuple(gaps(scope, much))))


def gaps(scope: Scope, much: Sequence[str]) -> Iterator[Gap]:
    if much:
        says = f"Only {' and '.join(much)} of this name are listed."
        yield Gap(says, "A longer text or fewer days find the others.")
    if is_long(scope):
        says = f"Titles were looked through for the newest {TITLES:,} videos."
        yield Gap(says, "Days that end earlier reach older ones.")


def is_long(scope: Scope) -> bool:
    """Whether there may be so many videos that not all of their titles are looked through."""
    read = [one for one in scope.accounts if one.pk in scope.ids and hasattr(one, "ledger")]
    return sum(one.ledger.high for one in read) > LONG


def names_in(scope: Scope) -> LedgerNames:
    """Features and labels of the days; one query."""
    return load_ledger_names(scope.ids, scope.period.first, scope.period.last)


def rows_of_videos(scope: Scope, found: Found) -> tuple[tuple[Row, ...], bool]:
    """What only a title tells of, and whether more videos have it than are listed."""
    titled = looked_through(scope).filter(title__icontains=scope.filters.search)
    if scope.filters.account:
        titled = titled.filter(account__in=scope.ids)
    # The accounts are the videos' own. Named again, SQLite would search by them and the days.
    theirs = FilteredRelation("entries", condition=scope.wanted(prefix="entries__"))
    videos = Job.objects.filter(pk__in=titled.values("pk")[: VIDEOS + 1]).annotate(row=theirs)
    nth = Window(DenseRank(), order_by=NEWEST)
    matched = ExpressionWrapper(Q(row__charge__isnull=False), BooleanField())
    listed = list(videos.annotate(nth=nth, matched=matched).values_list(*COLUMNS))
    rows = (
        Row(key, at, amount, matched)
        for nth, key, at, amount, matched, *names in listed
        if nth <= VIDEOS and key is not None and not found.has(*names)
    )
    return tuple(rows), any(nth > VIDEOS for nth, *_ in listed)


def looked_through(scope: Scope) -> QuerySet[Job]:
    """The team's videos that may have rows in the period, the newest first."""
    end = scope.period.moments(scope.zone)[1]
    videos = Job.objects.filter(vault=scope.team.vault_id, created_at__lt=end).order_by(*NEWEST)
    if not is_long(scope):
        return videos
    older = Subquery(videos.values("created_at")[TITLES : TITLES + 1])
    return videos.filter(created_at__gt=Coalesce(older, BEGINNING))
