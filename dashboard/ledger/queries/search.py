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

from dashboard.ledger.queries.scope import FoundRow, LedgerScope, LedgerSearchResult, SearchGap
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.people import TeamPerson
from proxyapi.models import Job
from proxyapi.rollups.ledger_names import LedgerNames, load_ledger_names

MAX_FOUND_PEOPLE, MAX_FOUND_VIDEOS = 20, 100  # that one text may name
MAX_TITLES_SEARCHED = 10_000  # that are looked through of the videos of a long ledger
LONG_LEDGER_ROWS = 100_000  # rows
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEWEST_FIRST = [F("created_at").desc(), F("pk").desc()]
FOUND_ROW_COLUMNS = (
    *("nth", "row__pk", "row__happened_at", "row__amount", "matched", "row__label"),
    *("row__operation", "row__member"),
)


def apply_ledger_search(scope: LedgerScope, people: Sequence[TeamPerson]) -> LedgerScope:
    """The scope with what its text names. Two queries, none without a text."""
    if not scope.filters.search:
        return scope
    text = scope.filters.search.casefold()
    names = load_period_names(scope)
    members = [one.id for one in people if text in one.name.casefold()]
    found = LedgerSearchResult(
        names=names,
        labels=frozenset(one for one in names.labels if text in one.casefold()),
        operations=frozenset(
            one for one in names.operations if text in feature_label(one).casefold()
        ),
        members=frozenset(members[:MAX_FOUND_PEOPLE]),
    )
    rows, more = find_rows_by_title(scope, found)
    much = [f"the newest {MAX_FOUND_VIDEOS} videos"] if more else []
    much += [f"the first {MAX_FOUND_PEOPLE} people"] if len(members) > MAX_FOUND_PEOPLE else []
    return replace(
        scope, found=replace(found, rows=rows, gaps=tuple(iter_search_gaps(scope, much)))
    )


def iter_search_gaps(scope: LedgerScope, much: Sequence[str]) -> Iterator[SearchGap]:
    if much:
        says = f"Only {' and '.join(much)} of this name are listed."
        yield SearchGap(says, "Use a longer text or fewer days to find the others.")
    if is_long_ledger(scope):
        says = f"Only the titles of the newest {MAX_TITLES_SEARCHED:,} videos were searched."
        yield SearchGap(says, "Choose an earlier end date to search older ones.")


def is_long_ledger(scope: LedgerScope) -> bool:
    """Whether there may be so many videos that not all of their titles are looked through."""
    read = [one for one in scope.accounts if one.pk in scope.ids and hasattr(one, "ledger")]
    return sum(one.ledger.high for one in read) > LONG_LEDGER_ROWS


def load_period_names(scope: LedgerScope) -> LedgerNames:
    """Features and labels of the days; one query."""
    return load_ledger_names(scope.ids, scope.period.first, scope.period.last)


def find_rows_by_title(
    scope: LedgerScope, found: LedgerSearchResult
) -> tuple[tuple[FoundRow, ...], bool]:
    """What only a title tells of, and whether more videos have it than are listed."""
    titled = searchable_videos(scope).filter(title__icontains=scope.filters.search)
    if scope.filters.account:
        titled = titled.filter(account__in=scope.ids)
    # The accounts are the videos' own. Named again, SQLite would search by them and the days.
    theirs = FilteredRelation("entries", condition=scope.rows_q(prefix="entries__"))
    videos = Job.objects.filter(pk__in=titled.values("pk")[: MAX_FOUND_VIDEOS + 1]).annotate(
        row=theirs
    )
    nth = Window(DenseRank(), order_by=NEWEST_FIRST)
    matched = ExpressionWrapper(Q(row__charge__isnull=False), BooleanField())
    listed = list(videos.annotate(nth=nth, matched=matched).values_list(*FOUND_ROW_COLUMNS))
    rows = (
        FoundRow(key, at, amount, matched)
        for nth, key, at, amount, matched, *names in listed
        if nth <= MAX_FOUND_VIDEOS and key is not None and not found.matches(*names)
    )
    return tuple(rows), any(nth > MAX_FOUND_VIDEOS for nth, *_ in listed)


def searchable_videos(scope: LedgerScope) -> QuerySet[Job]:
    """The team's videos that may have rows in the period, the newest first."""
    end = scope.period.time_bounds(scope.zone)[1]
    videos = Job.objects.filter(tenant=scope.team.tenant_id, created_at__lt=end).order_by(
        *NEWEST_FIRST
    )
    if not is_long_ledger(scope):
        return videos
    older = Subquery(videos.values("created_at")[MAX_TITLES_SEARCHED : MAX_TITLES_SEARCHED + 1])
    return videos.filter(created_at__gt=Coalesce(older, EPOCH))
