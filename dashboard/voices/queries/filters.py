"""The filters in the URL of the voices page: name, language, gender, sample, favourites, order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from dashboard.shared import query_params

SAMPLE_LABELS = {"": "any", "with": "with sample"}
FAVOURITE_LABELS = {"": "all", "only": "favourites"}
SORT_LABELS = {"": "Most used first", "name": "By name"}


@dataclass(frozen=True, slots=True)
class VoiceListFilters(query_params.PageFilters):
    """`shown` is "all" once a reader wants more than the first rows."""

    PAGE: ClassVar[str] = "voices"
    CURSOR: ClassVar[str] = "shown"

    search: str = ""
    language: str = ""
    gender: str = ""
    sample: str = ""
    favourites: str = ""
    sort: str = ""
    shown: str | None = None

    @property
    def is_narrowed(self) -> bool:
        return any((self.search, self.language, self.gender, self.sample, self.favourites))


def parse_voice_list_filters(query: Mapping[str, str]) -> VoiceListFilters:
    return VoiceListFilters(
        search=query_params.parse_search_text(query),
        language=query_params.clean_text_param(query, "language")[:100],
        gender=query_params.clean_text_param(query, "gender")[:100],
        sample=query_params.allowed_or_empty(query.get("sample", ""), SAMPLE_LABELS),
        favourites=query_params.allowed_or_empty(query.get("favourites", ""), FAVOURITE_LABELS),
        sort=query_params.allowed_or_empty(query.get("sort", ""), SORT_LABELS),
        shown=query_params.allowed_or_empty(query.get("shown", ""), ("all",)) or None,
    )
