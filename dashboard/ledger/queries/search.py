"""The ledger search: labels of the service, features, members and video titles that match a text.

No index holds the words of a million rows. So the text is compared with the few names that rows
have, and rows are selected by these: labels, features and members have sums and an index, and the
matching videos have few rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from django.db.models import (
    F,
    FilteredRelation,
    QuerySet,
    Subquery,
    Window,
)
from django.db.models.functions import Coalesce, DenseRank

from dashboard.ledger.queries.scope import (
    FoundRow,
    LedgerScope,
    LedgerSearchResult,
    SearchGap,
    jobs_with_label,
)
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.people import TeamPerson
from proxyapi.models import Job
from proxyapi.rollups.ledger_names import LedgerNames, load_ledger_names

MAX_FOUND_PEOPLE, MAX_FOUND_VIDEOS = 20, 100  # matches of one text
MAX_FOUND_LABELS = 500  # each is a parameter of the queries that follow
MAX_TITLES_SEARCHED = 10_000  # newest videos of a long ledger
LONG_LEDGER_ROWS = 100_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEWEST_FIRST = [F("created_at").desc(), F("pk").desc()]
FOUND_ROW_COLUMNS = (
    *("nth", "row__pk", "row__happened_at", "row__amount", "row__label"),
    *("row__operation", "row__member"),
)


def apply_ledger_search(scope: LedgerScope, people: Sequence[TeamPerson]) -> LedgerScope:
    """The scope with its search result. Three queries, none without a search text."""
    if not scope.filters.search:
        return scope
    text = scope.filters.search.casefold()
    names, labels = load_period_names(scope), find_labels(scope)
    members = [person.id for person in people if text in person.name.casefold()]
    result = LedgerSearchResult(
        names=names,
        labels=frozenset(labels[:MAX_FOUND_LABELS]),
        operations=frozenset(
            name for name in names.operations if text in feature_label(name).casefold()
        ),
        members=frozenset(members[:MAX_FOUND_PEOPLE]),
    )
    rows, has_more_videos = find_rows_by_title(scope, result)
    truncated = [f"the newest {MAX_FOUND_VIDEOS} videos"] if has_more_videos else []
    truncated += [f"the first {MAX_FOUND_PEOPLE} people"] if len(members) > MAX_FOUND_PEOPLE else []
    truncated += [f"the first {MAX_FOUND_LABELS} labels"] if len(labels) > MAX_FOUND_LABELS else []
    return replace(
        scope, found=replace(result, rows=rows, gaps=tuple(iter_search_gaps(scope, truncated)))
    )


def iter_search_gaps(scope: LedgerScope, truncated: Sequence[str]) -> Iterator[SearchGap]:
    if truncated:
        text = f"Only {' and '.join(truncated)} of this name are listed."
        yield SearchGap(text, "Use a longer text or fewer days to find the others.")
    if is_long_ledger(scope):
        text = f"Only the titles of the newest {MAX_TITLES_SEARCHED:,} videos were searched."
        yield SearchGap(text, "Choose an earlier end date to search older ones.")


def is_long_ledger(scope: LedgerScope) -> bool:
    """True if there may be so many videos that not all titles are searched."""
    accounts_read = [
        account
        for account in scope.accounts
        if account.pk in scope.ids and hasattr(account, "ledger")
    ]
    return sum(account.ledger.high for account in accounts_read) > LONG_LEDGER_ROWS


def find_labels(scope: LedgerScope) -> list[str]:
    """Labels of the period that contain the text, one more than are listed. A service that writes
    titles has as many labels as entries, so the database compares them."""
    sums = scope.sums("label").filter(label__icontains=scope.filters.search)
    labels = sums.order_by("label").values_list("label", flat=True).distinct()
    return list(labels[: MAX_FOUND_LABELS + 1])


def load_period_names(scope: LedgerScope) -> LedgerNames:
    """Features and content types of the period; one query."""
    return load_ledger_names(scope.ids, scope.period.first, scope.period.last)


def find_rows_by_title(
    scope: LedgerScope, name_result: LedgerSearchResult
) -> tuple[tuple[FoundRow, ...], bool]:
    """Rows that only match by a video title, and whether more videos match than are listed."""
    matching_videos = searchable_videos(scope).filter(title__icontains=scope.filters.search)
    if scope.filters.account:
        matching_videos = matching_videos.filter(account__in=scope.ids)
    if label := scope.filters.video_label:
        matching_videos = matching_videos.filter(pk__in=jobs_with_label(label))
    # No condition on the rows' accounts, which are the videos' own: with it, SQLite would search
    # the rows by account and day.
    filtered_entries = FilteredRelation("entries", condition=scope.rows_q(prefix="entries__"))
    videos = Job.objects.filter(
        pk__in=matching_videos.values("pk")[: MAX_FOUND_VIDEOS + 1]
    ).annotate(row=filtered_entries)
    video_rank = Window(DenseRank(), order_by=NEWEST_FIRST)
    listed = list(videos.annotate(nth=video_rank).values_list(*FOUND_ROW_COLUMNS))
    rows = (
        FoundRow(key, at, amount)
        for video_rank, key, at, amount, *names in listed
        if video_rank <= MAX_FOUND_VIDEOS and key is not None and not name_result.matches(*names)
    )
    return tuple(rows), any(video_rank > MAX_FOUND_VIDEOS for video_rank, *_ in listed)


def searchable_videos(scope: LedgerScope) -> QuerySet[Job]:
    """The team's videos that may have rows in the period, newest first."""
    end = scope.period.time_bounds(scope.zone)[1]
    videos = Job.objects.filter(tenant=scope.team.tenant_id, created_at__lt=end).order_by(
        *NEWEST_FIRST
    )
    if not is_long_ledger(scope):
        return videos
    oldest_searched = Subquery(
        videos.values("created_at")[MAX_TITLES_SEARCHED : MAX_TITLES_SEARCHED + 1]
    )
    return videos.filter(created_at__gt=Coalesce(oldest_searched, EPOCH))
