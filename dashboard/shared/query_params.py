"""Read filters from a URL's query, and build URLs from filters. Invalid values are ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.forms import DecimalField
from django.urls import reverse
from django.utils import timezone

MAX_SEARCH_CHARS = 200
MAX_QUOTED_CHARS = 40  # of a value that is quoted in a sentence
MAX_POSITION_DIGITS = 18
M = TypeVar("M", bound=Model)


class Cursor(tuple[Any, ...]):
    """The last row of a page: its values of what the list is ordered by."""

    __slots__ = ()

    def __str__(self) -> str:
        return ".".join(map(format_cursor_value, self))


@dataclass(frozen=True, slots=True)
class Param:
    """How a filter is read from the URL, which rows it selects (`lookup` of the queryset), and what
    its chip says: a `label`, `options` by their value in the URL, `unset` for no choice. One that
    does not narrow the list is an order, a period or a mode."""

    read: Callable[[str], Any]
    lookup: str = ""
    label: str = ""
    options: Mapping[str, str] | None = None
    unset: str = "any"
    narrows: bool = True
    plain: bool = False


def param_field(read: Callable[[str], Any], **about: Any) -> Any:
    """A field of a `PageFilters`; a value that cannot be read is that of an empty text."""
    return field(default=read(""), metadata={"param": Param(read, **about)})


def search_field() -> Any:
    return param_field(clean_search_text)


def choice_field(options: Mapping[str, str], label: str = "", **about: Any) -> Any:
    """A key of `options`, or "" for no choice."""
    return param_field(
        lambda text: allowed_or_empty(text, options), label=label, options=options, **about
    )


def text_field(max_chars: int, label: str = "", **about: Any) -> Any:
    return param_field(lambda text: text[:max_chars], label=label, **about)


def number_field(label: str = "", **about: Any) -> Any:
    return param_field(parse_small_int, label=label, **about)


def id_field(label: str = "", **about: Any) -> Any:
    return param_field(parse_uuid, label=label, **about)


def cursor_field(*types: type) -> Any:
    """`types`: of the values that the list is ordered by."""
    return param_field(lambda text: parse_cursor(text, types), narrows=False)


def offset_field() -> Any:
    return param_field(lambda text: parse_small_int(text) or None, narrows=False)


@dataclass(frozen=True, slots=True)
class PageFilters:
    """The filters in a page's URL; `search` is called `q` there.

    `CURSOR` names the pagination field, which a changed filter resets; `KEPT` the fields that
    clearing all filters leaves as they are; `ID` begins the ids of their form and chips; `END` is a
    template behind the chips.
    """

    PAGE: ClassVar[str]
    CURSOR: ClassVar[str]
    ID: ClassVar[str] = ""
    KEPT: ClassVar[tuple[str, ...]] = ()
    END: ClassVar[str] = ""

    @classmethod
    def params(cls) -> dict[str, Param]:
        return {row.name: row.metadata["param"] for row in fields(cls) if "param" in row.metadata}

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> Self:
        """Read the filters of a URL; invalid values are ignored."""
        values = {
            name: param.read(clean_text_param(query, "q" if name == "search" else name))
            for name, param in cls.params().items()
        }
        return cls(**values)

    @property
    def named(self) -> dict[str, object]:
        """Return the values by URL parameter."""
        names = (row.name for row in fields(self) if row.metadata.get("in_url", True))
        return {"q" if name == "search" else name: getattr(self, name) for name in names}

    @property
    def is_narrowed(self) -> bool:
        return any(getattr(self, name) for name, param in self.params().items() if param.narrows)

    @property
    def clear_url(self) -> str:
        """Return the URL without the filters that may be why nothing is found."""
        return type(self)(**{name: getattr(self, name) for name in self.KEPT}).url()

    def url(self, page: str = "", **changes: Any) -> str:
        """Return the URL with these filters changed, without the cursor."""
        filters = replace(self, **{self.CURSOR: None, **changes})
        return build_page_url(page or self.PAGE, filters.named)

    def narrow(self, rows: QuerySet[M]) -> QuerySet[M]:
        """Return the rows that all filters with a lookup select."""
        lookups = {row.lookup: getattr(self, name) for name, row in self.params().items()}
        return rows.filter(**{name: value for name, value in lookups.items() if name and value})


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
    return clean_search_text(clean_text_param(query, "q"))


def clean_search_text(text: str) -> str:
    return " ".join(text.split())[:MAX_SEARCH_CHARS]


def clean_text_param(query: Mapping[str, str], name: str) -> str:
    """Return the value without NUL, which PostgreSQL does not store."""
    return query.get(name, "").replace("\0", "")


def allowed_or_empty(value: str, allowed: Iterable[str]) -> str:
    return value if value in allowed else ""


def start_of_day(days_before: int, zone: tzinfo) -> datetime:
    """Return the first moment of a day, `days_before` today."""
    midnight = timezone.localtime(timezone=zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days_before)


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


def format_cursor_value(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.timestamp():.6f}"
    return value.hex if isinstance(value, UUID) else str(value)


def parse_cursor(text: str, types: Sequence[type]) -> Cursor | None:
    """A time is two parts of the text: seconds and microseconds since 1970."""
    parts = text.split(".")
    if len(parts) != len(types) + types.count(datetime):
        return None
    left = iter(parts)
    try:
        return Cursor(
            parse_cursor_time(next(left), next(left))
            if type_ is datetime
            else UUID(next(left))
            if type_ is UUID
            else parse_position(next(left))
            for type_ in types
        )
    except (ValueError, OverflowError, OSError):
        return None


def parse_cursor_time(seconds: str, fraction: str) -> datetime:
    at = datetime.fromtimestamp(int(seconds), UTC) + timedelta(microseconds=int(fraction))
    # In the first and the last year, conversion to another zone can overflow.
    if not MINYEAR < at.year < MAXYEAR:
        raise ValueError(seconds)
    return at


def parse_position(text: str) -> int:
    """Raises `ValueError` for a number that no database column holds."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_POSITION_DIGITS):
        raise ValueError(text)
    return int(text)
