"""One row of the ledger: the service's words, and what they say (spec, Credit ledger entry).

Contract: pure, and total: any JSON becomes a row. What cannot be read is not guessed. Such a row
keeps its words and its place, counts as 0 credits or stands at its neighbour's time, and says so in
`trouble`; a mirror that stopped at it, or left it out, would hide more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from proxyapi.models import LedgerEntry
from proxyapi.models.account import parse_timestamp
from proxyapi.upstream import wire

# The upstream's name of each word, ours, and the characters of it that are kept.
FIELDS = (
    ("label", "label", 200),
    ("content_type", "content_type", 100),
    ("credit_spend", "credit_spend", 40),
    ("transaction_type", "transaction_type", 40),
    ("created_at", "booked_at", 40),
)
NAMES = tuple(ours for _, ours, _ in FIELDS)
Words = tuple[str, ...]  # in the order of NAMES
SMALLEST = Decimal("0.0001")

STRANGE = "This row is none of a ledger."
AMOUNT = "Its amount cannot be read, so it counts as 0."
ROUNDED = "Its amount has more than four decimals; the rest is cut off."
TIME = "Its time cannot be read, so it stands at its neighbour's."


@dataclass(frozen=True, slots=True)
class Row:
    words: Words
    amount: Decimal  # credits, signed; 0 where it cannot be read
    happened_at: datetime | None  # UTC
    trouble: str


def row(raw: Any) -> Row:
    """A row of the answer, whatever it is."""
    if not isinstance(raw, dict):
        return Row((str(raw)[:200], "", "", "", ""), Decimal(0), None, f"{STRANGE} {AMOUNT} {TIME}")
    words = tuple(text(raw.get(theirs))[:most] for theirs, _, most in FIELDS)
    amount, when = signed(raw.get("credit_spend")), utc(raw.get("created_at"))
    troubles = []
    if amount is None:
        troubles.append(AMOUNT)
    elif amount % SMALLEST:
        troubles.append(ROUNDED)
    if when is None:
        troubles.append(TIME)
    kept = amount - amount % SMALLEST if amount is not None else Decimal(0)
    return Row(words, kept, when, " ".join(troubles))


def text(value: Any) -> str:
    return "" if value is None else str(value)


def signed(value: Any) -> Decimal | None:
    """A signed amount; the ledger writes it as a string (pitfall 60)."""
    return wire.amount(text(value).strip().replace(",", ""))


def utc(value: Any) -> datetime | None:
    """An instant with its offset (pitfall 68); without one nobody knows when it was."""
    when = parse_timestamp(value)
    return when.astimezone(UTC) if when is not None else None


def words_of(entry: LedgerEntry) -> Words:
    """The words of a mirrored row, to be compared with what is read now."""
    return tuple(getattr(entry, name) for name in NAMES)


def as_json(words: Words) -> dict[str, str]:
    return dict(zip((theirs for theirs, _, _ in FIELDS), words, strict=True))


def from_json(words: Mapping[str, Any]) -> Row:
    return row(dict(words))
