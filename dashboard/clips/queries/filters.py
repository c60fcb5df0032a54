"""The filters of the newest clips in the URL: state, model, member, how many are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dashboard.shared import query_params

RECENT_CLIPS = 12  # of the grid, and of each "Show more"
MAX_SHOWN_CLIPS = 96
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


def read_draft(text: str) -> str:
    return str(query_params.parse_uuid(text) or "")


def read_shown(text: str) -> int | None:
    shown = query_params.parse_small_int(text) or 0
    return min(shown, MAX_SHOWN_CLIPS) if shown > RECENT_CLIPS else None


@dataclass(frozen=True, slots=True)
class ClipFilters(query_params.PageFilters):
    """`draft` is the draft in the composer, which a filter does not change."""

    PAGE: ClassVar[str] = "clips"
    CURSOR: ClassVar[str] = "shown"
    ID: ClassVar[str] = "clip"
    KEPT: ClassVar[tuple[str, ...]] = ("draft",)

    draft: str = query_params.param_field(read_draft, narrows=False)
    state: str = query_params.choice_field(STATE_LABELS, "State")
    model: str = query_params.text_field(100, "Model", lookup="draft__settings__model")
    member: int | None = query_params.number_field("Member", lookup="member", unset="everyone")
    shown: int | None = query_params.param_field(read_shown, narrows=False)

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
    def library_url(self) -> str:
        """Return the library's list with the same filters; "" with a model, which it has no filter
        for."""
        if self.model:
            return ""
        state = LIBRARY_STATES.get(self.state, self.state)
        named = {"type": "clip", "state": state, "member": self.member}
        return query_params.build_page_url("library", named)

    @property
    def load_url(self) -> str:
        return query_params.build_page_url(self.PAGE, {**self.named, "part": "recent"})

    @property
    def refresh_url(self) -> str:
        return query_params.build_page_url(self.PAGE, {**self.named, "part": "cards"})
