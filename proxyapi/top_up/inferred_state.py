"""What the service does not tell of its top-ups: how many today, since when, who switched it off.

Inferred, and shown as such (pitfall 81): an entry counts as an automatic top-up when its own words
say so, and it gives nothing back. The spec names no words for one, nor for a pack somebody bought
by hand: which of the two it was no row tells. The caps count by the UTC day (spec, Limits).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from proxyapi.forecast.top_up_rules import FAILURE_COOLDOWN, MAX_TOP_UP_FAILURES
from proxyapi.models import Account, AutoTopUp, LedgerEntry

TOP_UP_PATTERN = re.compile(r"top[\s_-]*up", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class InferredTopUpState:
    """`successes_today` counts since UTC midnight, `day_end` is the next one."""

    successes_today: int
    day_end: datetime
    cooldown_until: datetime | None


def infer_top_up_state(
    account: Account, row: AutoTopUp | None, now: datetime
) -> InferredTopUpState:
    """One query."""
    credited = account.entries.filter(amount__gt=0, happened_at__gte=utc_midnight(now))
    return infer_from_entries(credited.order_by("-happened_at")[:200], row, now)


def infer_from_entries(
    entries: Iterable[LedgerEntry], row: AutoTopUp | None, now: datetime
) -> InferredTopUpState:
    """From entries that hold today's credits at least."""
    began = utc_midnight(now)
    today = sum(1 for entry in entries if entry.happened_at >= began and is_top_up_entry(entry))
    failed_at = row.failure_seen_at if row and row.consecutive_failures else None
    until = failed_at + FAILURE_COOLDOWN if failed_at else None
    resting = until if until and until > now else None
    return InferredTopUpState(today, began + timedelta(days=1), resting)


def is_stopped_by_failures(row: AutoTopUp) -> bool:
    """Whether the service switched it off. The count alone does not tell: it stays when somebody
    switches top-up on again, and off later (spec, PUT rule 4)."""
    left_off = row.left_enabled is False and row.found_off_at is None
    return row.consecutive_failures >= MAX_TOP_UP_FAILURES and not row.enabled and not left_off


def utc_midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def is_top_up_entry(entry: LedgerEntry) -> bool:
    gives_nothing_back = entry.amount > 0 and entry.charge_id is None
    return gives_nothing_back and mentions_top_up(
        entry.label, entry.content_type, entry.transaction_type
    )


def mentions_top_up(*words: str) -> bool:
    """A refund may bear the title of what it gives back, such as of a film about top-ups."""
    said = " ".join(words)
    return bool(TOP_UP_PATTERN.search(said)) and "refund" not in said.lower()
