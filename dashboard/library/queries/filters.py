"""The filters in the URL of the library: state, search, type, label, member, format, order, page,
and whether cards are selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, NamedTuple
from uuid import UUID

from dashboard.shared import query_params
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS, JOB_KIND_LABELS
from dashboard.shared.videos.state_tabs import HIDDEN_TAB
from proxyapi.models import VIDEO_KINDS, JobKind

LIBRARY_TABS = {  # slug in the URL: label, glyph
    "": ("All", ""),
    "rendering": ("Rendering", "running"),
    "completed": ("Completed", ""),
    "failed": ("Failed", "failed"),
    "unknown": ("Unknown", "unknown"),
    "waiting": ("Waiting", "waiting"),
    "drafts": ("Drafts", "draft"),
    HIDDEN_TAB: ("Hidden", ""),
}
SORT_LABELS = {"": "Newest first", "oldest": "Oldest first"}
# Slug in the URL: the type of a faceless video, or the kind of any other job. "faceless" is the
# rest: videos whose type is not known, such as those that a script sent.
TYPE_LABELS = {
    "": "any",
    **FACELESS_TYPE_LABELS,
    **{kind: label for kind, label in JOB_KIND_LABELS.items() if kind in VIDEO_KINDS},
    JobKind.FACELESS.value: "Other faceless",
}
SELECT_VALUES = ("on", "all")  # cards with a checkbox; "all": checked
FORMAT_LABELS = {"": "any", "16:9": "16:9", "9:16": "9:16", "1:1": "1:1"}


class LibraryCursor(NamedTuple):
    """The last card of a page: its rank, its creation time and its id."""

    rank: int
    made_at: datetime
    id: UUID

    def __str__(self) -> str:
        return f"{self.rank}.{query_params.format_cursor_time(self.made_at)}.{self.id.hex}"


@dataclass(frozen=True, slots=True)
class LibraryFilters(query_params.PageFilters):
    PAGE: ClassVar[str] = "library"
    CURSOR: ClassVar[str] = "before"

    state: str = ""
    search: str = ""
    type: str = ""
    label: UUID | None = None
    member: int | None = None
    format: str = ""
    sort: str = ""
    select: str = ""
    before: LibraryCursor | None = None

    @property
    def shows_hidden(self) -> bool:
        """True for the list of hidden videos, which no other list contains."""
        return self.state == HIDDEN_TAB

    @property
    def is_narrowed(self) -> bool:
        return bool(self.search or self.type or self.label or self.member or self.format)


def parse_library_filters(query: Mapping[str, str]) -> LibraryFilters:
    return LibraryFilters(
        state=query_params.allowed_or_empty(query.get("state", ""), LIBRARY_TABS),
        search=query_params.parse_search_text(query),
        type=query_params.allowed_or_empty(query.get("type", ""), TYPE_LABELS),
        label=query_params.parse_uuid(query.get("label", "")),
        member=query_params.parse_small_int(query.get("member", "")),
        format=query_params.allowed_or_empty(query.get("format", ""), FORMAT_LABELS),
        sort=query_params.allowed_or_empty(query.get("sort", ""), SORT_LABELS),
        select=query_params.allowed_or_empty(query.get("select", ""), SELECT_VALUES),
        before=parse_library_cursor(query.get("before", "")),
    )


def parse_library_cursor(text: str) -> LibraryCursor | None:
    try:
        rank, seconds, fraction, id = text.split(".")
        return LibraryCursor(int(rank), query_params.parse_cursor_time(seconds, fraction), UUID(id))
    except (ValueError, OverflowError, OSError):
        return None
