"""Parse one row of the ledger: its raw values and their meaning (spec, Credit ledger entry).

Contract: pure and total: any JSON becomes a row. An unreadable value is not guessed: the row keeps
its raw values and its position, counts as 0 credits or gets its neighbour's time, and `trouble`
says so. Stopping the mirror at such a row, or omitting it, would hide more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from proxyapi.models import LedgerEntry
from proxyapi.models.account import parse_timestamp
from proxyapi.upstream import response_parsing

# The upstream's name of each value, our column, and its maximum length.
ROW_FIELDS = (
    ("label", "label", 200),
    ("content_type", "content_type", 100),
    ("credit_spend", "credit_spend", 40),
    ("transaction_type", "transaction_type", 40),
    ("created_at", "booked_at", 40),
)
ROW_FIELD_NAMES = tuple(column for _, column, _ in ROW_FIELDS)
RowValues = tuple[str, ...]  # in the order of `ROW_FIELD_NAMES`
LEDGER_CREDIT_QUANTUM = Decimal("0.0001")

NOT_A_LEDGER_ROW = "This is not a ledger row."
UNREADABLE_AMOUNT = "Its amount cannot be read, so it counts as 0."
TRUNCATED_AMOUNT = "Its amount has more than four decimals; the rest is cut off."
UNREADABLE_TIME = "Its time cannot be read, so the time of the row next to it is used."


@dataclass(frozen=True, slots=True)
class UpstreamLedgerRow:
    raw_values: RowValues
    amount: Decimal  # credits, signed; 0 if unreadable
    happened_at: datetime | None  # UTC
    trouble: str


def parse_row(raw: Any) -> UpstreamLedgerRow:
    """Parse any JSON value as a row."""
    if not isinstance(raw, dict):
        return UpstreamLedgerRow(
            (str(raw)[:200], "", "", "", ""),
            Decimal(0),
            None,
            f"{NOT_A_LEDGER_ROW} {UNREADABLE_AMOUNT} {UNREADABLE_TIME}",
        )
    raw_values = tuple(
        value_as_text(raw.get(upstream_name))[:max_length]
        for upstream_name, _, max_length in ROW_FIELDS
    )
    amount, when = (
        parse_signed_amount(raw.get("credit_spend")),
        parse_utc_time(raw.get("created_at")),
    )
    troubles = []
    if amount is None:
        troubles.append(UNREADABLE_AMOUNT)
    elif amount % LEDGER_CREDIT_QUANTUM:
        troubles.append(TRUNCATED_AMOUNT)
    if when is None:
        troubles.append(UNREADABLE_TIME)
    rounded = amount - amount % LEDGER_CREDIT_QUANTUM if amount is not None else Decimal(0)
    return UpstreamLedgerRow(raw_values, rounded, when, " ".join(troubles))


def value_as_text(value: Any) -> str:
    return "" if value is None else str(value)


def parse_signed_amount(value: Any) -> Decimal | None:
    """Credits, signed; the ledger writes them as a string (pitfall 60)."""
    return response_parsing.parse_credit_amount(value_as_text(value).strip().replace(",", ""))


def parse_utc_time(value: Any) -> datetime | None:
    """A time with its offset (pitfall 68); None without an offset, because the instant is
    unknown."""
    when = parse_timestamp(value)
    return when.astimezone(UTC) if when is not None else None


def entry_raw_values(entry: LedgerEntry) -> RowValues:
    """The raw values of a mirrored row, to compare with a new reading."""
    return tuple(getattr(entry, name) for name in ROW_FIELD_NAMES)


def raw_values_to_json(raw_values: RowValues) -> dict[str, str]:
    return dict(zip((upstream_name for upstream_name, _, _ in ROW_FIELDS), raw_values, strict=True))


def parse_stored_row(stored: Mapping[str, Any]) -> UpstreamLedgerRow:
    return parse_row(dict(stored))
