"""Parse ideas. The spec names no field of an idea, so each is read as far as it makes sense, and
nothing that is not read here is stored."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from proxyapi.models.account import parse_timestamp
from proxyapi.models.idea import MAX_IDEA_TITLE_CHARS, MAX_KEYWORD_CHARS, MAX_NETWORK_CHARS
from proxyapi.upstream.response_parsing import is_resource_id

TITLE_FIELDS = ("title", "name", "idea", "topic")
MAX_VOLUME, MAX_RANK = 2**63 - 1, 2**31 - 1
# Control characters, and those that change the direction of the text after them.
INVISIBLE_RE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


@dataclass(frozen=True, slots=True)
class IdeaRecord:
    """An idea as the service describes it; `None` for what it does not say."""

    remote_id: str
    keyword: str
    network: str
    title: str
    volume: int | None
    rank: int | None
    found_at: datetime | None


def parse_ideas(rows: Any, search: Mapping[str, Any]) -> list[IdeaRecord]:
    """Return the ideas of a list, each once. `search` has the keyword and network of ideas that do
    not name theirs."""
    found = {record.remote_id: record for record in iter_ideas(rows, search)}
    return list(found.values())


def iter_ideas(rows: Any, search: Mapping[str, Any]) -> Iterator[IdeaRecord]:
    for row in rows if isinstance(rows, list) else []:
        if not isinstance(row, dict) or not is_resource_id(row.get("id")):
            continue
        titles = (clean_text(row.get(name), MAX_IDEA_TITLE_CHARS) for name in TITLE_FIELDS)
        if title := next(filter(None, titles), ""):
            keyword, network = (
                clean_text(row.get(name), length) or clean_text(search.get(name), length)
                for name, length in (("keyword", MAX_KEYWORD_CHARS), ("network", MAX_NETWORK_CHARS))
            )
            yield IdeaRecord(
                remote_id=str(row["id"]),
                keyword=keyword,
                network=network,
                title=title,
                volume=parse_count(row.get("volume"), MAX_VOLUME),
                rank=parse_count(row.get("rank"), MAX_RANK) or None,
                found_at=parse_past_time(row.get("created_at")),
            )


def clean_text(value: Any, length: int) -> str:
    """Return one line of visible text; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    return " ".join(INVISIBLE_RE.sub(" ", value).split())[:length].strip()


def parse_count(value: Any, highest: int) -> int | None:
    """Return a whole number from 0 from a number or from digits, also with thousands commas or
    with a fraction, which is left out."""
    if isinstance(value, str) and re.fullmatch(r"[0-9][0-9,]{0,24}(\.[0-9]+)?", value):
        value = int(value.partition(".")[0].replace(",", ""))
    is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
    return int(value) if is_number and math.isfinite(value) and 0 <= value <= highest else None


def parse_past_time(value: Any) -> datetime | None:
    at = parse_timestamp(value)
    return None if at is None else min(at, timezone.now())
