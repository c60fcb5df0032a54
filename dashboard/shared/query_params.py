"""What filters in an address have in common: reading them, and writing the address again.

Anything that an address cannot mean is as if it were not there.
"""

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

from proxyapi.models import Job

MAX_SEARCH_CHARS = 200  # characters of a search


@dataclass(frozen=True, slots=True)
class PageFilters:
    """What the address of a page asks for; a search is called `q` there.

    `CURSOR` is the field that says where a page begins: other filters begin at their first one.
    """

    PAGE: ClassVar[str]
    CURSOR: ClassVar[str]

    @property
    def named(self) -> dict[str, object]:
        """As they are called in the address."""
        names = (it.name for it in fields(self) if it.metadata.get("in_url", True))
        return {"q" if name == "search" else name: getattr(self, name) for name in names}

    def url(self, page: str = "", **changes: Any) -> str:
        """The address with these filters; a changed one starts at its first page."""
        filters = replace(self, **{self.CURSOR: None, **changes})
        return build_page_url(page or self.PAGE, filters.named)


def build_page_url(page: str, named: Mapping[str, object]) -> str:
    """The page with those of the names that have a value."""
    query = urlencode({name: value for name, value in named.items() if value})
    return f"{reverse(page)}{'?' if query else ''}{query}"


def video_page_url(job: Job | None) -> str:
    """The video's page; empty without one, and for one that was hidden, which has none."""
    return reverse("video", args=[job.pk]) if job and job.hidden_at is None else ""


def parse_search_text(query: Mapping[str, str]) -> str:
    """What is searched for."""
    return " ".join(clean_text_param(query, "q").split())[:MAX_SEARCH_CHARS]


def clean_text_param(query: Mapping[str, str], name: str) -> str:
    """What was typed or chosen, without NUL, which PostgreSQL takes in no text."""
    return query.get(name, "").replace("\0", "")


def allowed_or_empty(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""


def parse_credits(text: str) -> Decimal | None:
    """The credits that a hidden field names, as it was drawn."""
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
    """The halves of a stamp. Raises `ValueError`, `OverflowError` or `OSError`."""
    return datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(fraction))
