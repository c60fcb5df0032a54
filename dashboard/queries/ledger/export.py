"""The filtered rows as CSV, stretch by stretch, so that a million need no more memory than a page.

Cells that a spreadsheet would take for a formula get an apostrophe in front. `credit_spend` is the
upstream's own string: a plain signed number stays as it is, for it can only be read as that number
or as text; anything else there is treated like every other cell (docs/ledger.md).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from dashboard.models import Team
from dashboard.queries.ledger.figures import Books, books_of
from dashboard.queries.ledger.filters import Filters, Place
from dashboard.queries.ledger.people import people_of
from dashboard.queries.ledger.rows import joined
from dashboard.queries.ledger.scope import Scope, scope_of
from dashboard.queries.ledger.search import searched
from dashboard.queries.ledger.words import feature

STRETCH = 4_000  # rows that are read at once
BOM = "\ufeff"  # without it Excel takes UTF-8 for the machine's old code page
HEAD = (
    *("account", "position", "created_at", "utc", "label", "content_type", "transaction_type"),
    *("credit_spend", "through_api", "feature", "member", "member_email", "video", "video_id"),
    *("charge_id", "confidence", "reason"),
)
FIELDS = (
    *("account_id", "position", "booked_at", "happened_at", "label", "content_type"),
    *("transaction_type", "credit_spend", "via_api", "operation", "member__name"),
    *("member__email", "job__title", "job_id", "charge_id", "confidence", "reason"),
)
THROUGH = {True: "yes", False: "no", None: ""}
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Source:
    """What is exported: fixed when it starts, but for rows that come meanwhile."""

    scope: Scope
    books: Books
    names: Mapping[UUID, str]


def source_of(team: Team, filters: Filters) -> Source:
    scope = scope_of(team, filters)
    if filters.search:
        scope = searched(scope, people_of(team))
    names = {one.pk: safe(one.name or one.email) for one in scope.accounts}
    return Source(scope, books_of(scope), names)


def head() -> str:
    return BOM + lines([HEAD])


def next_lines(source: Source, after: Place | None) -> tuple[str, Place | None]:
    """The rows after a place as text, and the place where they end; None: there are no more."""
    found = list(joined(source.scope, source.books, after, STRETCH).values_list(*FIELDS))
    text = lines([cells(row, source.names) for row in found])
    return text, place_of(found[-1]) if len(found) == STRETCH else None


def lines(rows: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


def cells(row: tuple[Any, ...], names: Mapping[UUID, str]) -> tuple[Any, ...]:
    (account, position, booked, at, label, kind, transaction, spend, via_api, operation) = row[:10]
    (name, email, title, job, charge, confidence, reason) = row[10:]
    return (
        names[account], position, safe(booked), utc(at), safe(label), safe(kind),
        safe(transaction), spend if NUMBER.fullmatch(spend) else safe(spend), THROUGH[via_api],
        named(operation), safe(name), safe(email), safe(title), job,
        charge, confidence, safe(reason),
    )  # fmt: skip


@cache
def named(operation: str) -> str:
    return feature(operation) if operation else ""


def safe(text: str | None) -> str:
    """A cell that no spreadsheet reads as a formula."""
    return f"'{text}" if text and text.startswith(FORMULA) else text or ""


def utc(at: datetime) -> str:
    return at.isoformat(" ", "seconds").removesuffix("+00:00")


def place_of(row: tuple[Any, ...]) -> Place:
    return Place(row[3], row[0], row[1])
