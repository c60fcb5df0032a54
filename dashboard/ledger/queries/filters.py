"""The filters of a ledger page, parsed from its URL and formatted back into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone

from dashboard.ledger.queries.period import DateRangeInput, is_ledger_period, parse_date_range_input
from dashboard.shared import query_params

SORT_OPTIONS = {"": "Newest first", "oldest": "Oldest first"}
DIRECTION_OPTIONS = {"": "any", "out": "out", "in": "in"}
SOURCE_OPTIONS = {"": "any", "api": "the API", "web": "not the API"}
MATCH_OPTIONS = {"": "any", "yes": "one of ours", "no": "none of ours"}
STACK_OPTIONS = {"": "By member", "feature": "By feature"}
# The account is not one of these: it selects all of its rows.
NARROWING_FIELDS = (
    "search",
    "member",
    "job",
    "video_label",
    "feature",
    "content_type",
    "direction",
    "source",
    "match",
)


class LedgerCursor(NamedTuple):
    """The end of a page: time, account and position of its last row."""

    at: datetime
    account: UUID
    position: int

    def __str__(self) -> str:
        return f"{query_params.format_cursor_time(self.at)}.{self.account.hex}.{self.position}"


@dataclass(frozen=True, slots=True)
class LedgerFilters(query_params.PageFilters):
    """`dates` are the typed days; `period` is what they mean."""

    PAGE: ClassVar[str] = "ledger"
    CURSOR: ClassVar[str] = "after"

    search: str = ""
    account: UUID | None = None
    member: int | None = None
    job: UUID | None = None
    video_label: UUID | None = None
    feature: str = ""
    content_type: str = ""
    direction: str = ""
    source: str = ""
    match: str = ""
    period: str = ""
    sort: str = ""
    by: str = ""
    after: LedgerCursor | None = None
    dates: DateRangeInput = field(default_factory=DateRangeInput, metadata={"in_url": False})

    @property
    def is_narrowed(self) -> bool:
        return bool(self.account) or self.excludes_rows

    @property
    def excludes_rows(self) -> bool:
        """True if a filter removes rows within an account."""
        return any(getattr(self, name) for name in NARROWING_FIELDS)

    @property
    def selects_videos(self) -> bool:
        """True if the rows are those of one video or one label: sums of days lack these."""
        return bool(self.job or self.video_label)

    @property
    def oldest_first(self) -> bool:
        return self.sort == "oldest"

    def fragment_url(self, part: str, **params: Any) -> str:
        """The URL from which a part of the page refreshes."""
        url = self.url(after=self.after)
        return f"{url}{'&' if '?' in url else '?'}{urlencode({'part': part, **params})}"


@dataclass(frozen=True, slots=True)
class LedgerChartsFilters(LedgerFilters):
    PAGE: ClassVar[str] = "ledger-charts"


def parse_ledger_filters(query: Mapping[str, str]) -> LedgerFilters:
    dates, period = parse_date_range_input(query), query.get("period", "")
    period = period if is_ledger_period(period, timezone.now().date()) else ""
    return LedgerFilters(
        search=query_params.parse_search_text(query),
        period=dates.period or period,
        dates=dates,
        account=query_params.parse_uuid(query.get("account", "")),
        member=query_params.parse_small_int(query.get("member", "")),
        job=query_params.parse_uuid(query.get("job", "")),
        video_label=query_params.parse_uuid(query.get("video_label", "")),
        feature=query_params.clean_text_param(query, "feature")[:60],
        content_type=query_params.clean_text_param(query, "content_type")[:100],
        direction=query_params.allowed_or_empty(query.get("direction", ""), DIRECTION_OPTIONS),
        source=query_params.allowed_or_empty(query.get("source", ""), SOURCE_OPTIONS),
        match=query_params.allowed_or_empty(query.get("match", ""), MATCH_OPTIONS),
        sort=query_params.allowed_or_empty(query.get("sort", ""), SORT_OPTIONS),
        by=query_params.allowed_or_empty(query.get("by", ""), STACK_OPTIONS),
        after=parse_ledger_cursor(query.get("after", "")),
    )


def parse_ledger_cursor(text: str) -> LedgerCursor | None:
    try:
        seconds, fraction, account, position = text.split(".")
        cursor = LedgerCursor(
            query_params.parse_cursor_time(seconds, fraction), UUID(account), int(position)
        )
    except (ValueError, OverflowError, OSError):
        return None
    # In the first and the last year, conversion to another zone can overflow.
    return cursor if MINYEAR < cursor.at.year < MAXYEAR else None
