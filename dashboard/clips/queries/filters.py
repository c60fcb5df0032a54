"""The filters of the newest clips in the URL: state, model, member, how many are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dashboard.shared import query_params

RECENT_CLIPS = 12  # of the grid, and of each "Show more"
MAX_SHOWN_CLIPS = 96
MAX_MODEL_CHARS = 100
STATE_LABELS = {
    "": "any",
    "making": "In progress",
    "completed": "Completed",
    "failed": "Failed",
    "unknown": "Unknown",
    "unsent": "Not sent",
}
# The state of the library with the same clips; it has none for clips that were not sent.
LIBRARY_STATES = {"making": "rendering", "unsent": "drafts"}


@dataclass(frozen=True, slots=True)
class ClipFilters(query_params.PageFilters):
    """`draft` is the draft in the composer, which a filter does not change."""

    PAGE: ClassVar[str] = "clips"
    CURSOR: ClassVar[str] = "shown"

    draft: str = ""
    state: str = ""
    model: str = ""
    member: int | None = None
    shown: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.state or self.model or self.member)

    @property
    def limit(self) -> int:
        return self.shown or RECENT_CLIPS

    @property
    def page_url(self) -> str:
        return self.url(shown=self.shown)

    @property
    def more_url(self) -> str:
        return self.url(shown=min(self.limit + RECENT_CLIPS, MAX_SHOWN_CLIPS))

    @property
    def clear_url(self) -> str:
        return ClipFilters(draft=self.draft).url()

    @property
    def library_url(self) -> str:
        """Return the library's list with the same filters; "" with a model, which it has no filter
        for."""
        if self.model:
            return ""
        state = LIBRARY_STATES.get(self.state, self.state)
        named = {"type": "clip", "state": state, "member": self.member}
        return query_params.build_page_url("library", named)

    def fragment_url(self, part: str) -> str:
        """Return the URL of a part of the page; see `clips.views.composer.clips`."""
        named = {**self.named, "part": part}
        return query_params.build_page_url(self.PAGE, named)

    @property
    def load_url(self) -> str:
        return self.fragment_url("recent")

    @property
    def refresh_url(self) -> str:
        return self.fragment_url("cards")


def parse_clip_filters(query: Mapping[str, str]) -> ClipFilters:
    draft = query_params.parse_uuid(query.get("draft", ""))
    shown = query_params.parse_small_int(query.get("shown", "")) or 0
    return ClipFilters(
        draft=str(draft) if draft else "",
        state=query_params.allowed_or_empty(query.get("state", ""), STATE_LABELS),
        model=query_params.clean_text_param(query, "model")[:MAX_MODEL_CHARS],
        member=query_params.parse_small_int(query.get("member", "")),
        shown=min(shown, MAX_SHOWN_CLIPS) if shown > RECENT_CLIPS else None,
    )
