"""The filters in the URL of the library: state, search, type, label, member, format, order, page,
and whether cards are selected."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
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


@dataclass(frozen=True, slots=True)
class LibraryFilters(query_params.PageFilters):
    PAGE: ClassVar[str] = "library"
    CURSOR: ClassVar[str] = "before"
    ID: ClassVar[str] = "library"
    END: ClassVar[str] = "library/_select.html"

    state: str = query_params.choice_field(dict.fromkeys(LIBRARY_TABS, ""), narrows=False)
    search: str = query_params.search_field()
    type: str = query_params.choice_field(TYPE_LABELS, "Type")
    label: UUID | None = query_params.id_field("Label", lookup="labels")
    member: int | None = query_params.number_field("Member", lookup="member", unset="everyone")
    format: str = query_params.choice_field(
        FORMAT_LABELS, "Format", lookup="draft__settings__aspect_ratio"
    )
    sort: str = query_params.choice_field(SORT_LABELS, narrows=False)
    select: str = query_params.choice_field(dict.fromkeys(SELECT_VALUES, ""), narrows=False)
    before: query_params.Cursor | None = query_params.cursor_field(int, datetime, UUID)

    @property
    def shows_hidden(self) -> bool:
        """True for the list of hidden videos, which no other list contains."""
        return self.state == HIDDEN_TAB
