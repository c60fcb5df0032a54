"""Read filters from a URL's query, and build URLs from filters. Invalid values are ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import ValidationError
from django.forms import DecimalField
from django.urls import reverse

MAX_SEARCH_CHARS = 200
MAX_QUOTED_CHARS = 40  # of a value that is quoted in a sentence


@dataclass(frozen=True, slots=True)
class PageFilters:
    """The filters in a page's URL; `search` is called `q` there.

    `CURSOR` names the pagination field, which a changed filter resets.
    """

    PAGE: ClassVar[str]
    CURSOR: ClassVar[str]

    @property
    def named(self) -> dict[str, object]:
        """Return the values by URL parameter."""
        names = (row.name for row in fields(self) if row.metadata.get("in_url", True))
        return {"q" if name == "search" else name: getattr(self, name) for name in names}

    def url(self, page: str = "", **changes: Any) -> str:
        """Return the URL with these filters changed, without the cursor."""
        filters = replace(self, **{self.CURSOR: None, **changes})
        return build_page_url(page or self.PAGE, filters.named)


def unread_param_text(filters: PageFilters, query: Mapping[str, str]) -> str:
    """Return a sentence about the first parameter whose value is none of the filter; empty if all
    were taken. A page then shows what it shows without; a file must not hold other rows than were
    asked for."""
    for name, value in filters.named.items():
        if value in (None, "") and (text := query.get(name, "").strip()):
            return f"“{text[:MAX_QUOTED_CHARS]}” is not a valid value of “{name}”."
    return ""


def build_page_url(page: str, named: Mapping[str, object]) -> str:
    """Return the URL of a page with the parameters that have a value."""
    query = urlencode({name: value for name, value in named.items() if value})
    return f"{reverse(page)}{'?' if query else ''}{query}"


def parse_search_text(query: Mapping[str, str]) -> str:
    return " ".join(clean_text_param(query, "q").split())[:MAX_SEARCH_CHARS]


def clean_text_param(query: Mapping[str, str], name: str) -> str:
    """Return the value without NUL, which PostgreSQL does not store."""
    return query.get(name, "").replace("\0", "")


def allowed_or_empty(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""


def parse_credits(text: str) -> Decimal | None:
    """Return the credits of a hidden field; None if it is no valid amount."""
    field = DecimalField(max_digits=14, decimal_places=4)
    try:
        amount: Decimal | None = field.clean(text)
    except ValidationError:
        return None
    return amount


def parse_small_int(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def format_cursor_time(at: datetime) -> str:
    return f"{at.timestamp():.6f}"


def parse_cursor_time(seconds: str, fraction: str) -> datetime:
    """Parse seconds and microseconds since 1970. Raises `ValueError`, `OverflowError` or
    `OSError`."""
    return datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(fraction))
