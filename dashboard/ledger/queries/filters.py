"""The filters of a ledger page, parsed from its URL and formatted back into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar
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


def read_period(text: str) -> str:
    return text if is_ledger_period(text, timezone.now().date()) else ""


@dataclass(frozen=True, slots=True)
class LedgerFilters(query_params.PageFilters):
    """`dates` are the typed days; `period` is what they mean."""

    PAGE: ClassVar[str] = "ledger"
    CURSOR: ClassVar[str] = "after"
    ID: ClassVar[str] = "ledger"
    KEPT: ClassVar[tuple[str, ...]] = ("period",)

    search: str = query_params.search_field()
    account: UUID | None = query_params.id_field("Account", unset="all")
    member: int | None = query_params.number_field("Member", unset="everyone")
    job: UUID | None = query_params.id_field("Video")
    video_label: UUID | None = query_params.id_field("Label")
    feature: str = query_params.text_field(60, "Feature")
    content_type: str = query_params.text_field(100, "Content type")
    direction: str = query_params.choice_field(DIRECTION_OPTIONS, "Credits")
    source: str = query_params.choice_field(SOURCE_OPTIONS, "Via")
    match: str = query_params.choice_field(MATCH_OPTIONS, "Charge")
    period: str = query_params.param_field(read_period, label="Period", plain=True, narrows=False)
    sort: str = query_params.choice_field(SORT_OPTIONS, narrows=False)
    by: str = query_params.choice_field(STACK_OPTIONS, narrows=False)
    after: query_params.Cursor | None = query_params.cursor_field(datetime, UUID, int)
    dates: DateRangeInput = field(default_factory=DateRangeInput, metadata={"in_url": False})

    @property
    def excludes_rows(self) -> bool:
        """True if a filter removes rows within an account, which itself selects all of its rows."""
        return replace(self, account=None).is_narrowed

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
    filters, dates = LedgerFilters.parse(query), parse_date_range_input(query)
    return replace(filters, dates=dates, period=dates.period or filters.period)
