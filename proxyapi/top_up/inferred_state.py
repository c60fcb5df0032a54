"""What the upstream does not report of its top-ups: how many today, since when, and who switched it
off.

Inferred, and shown as such (pitfall 81): a credit counts as an automatic top-up if its label or
type contains "top-up" and it refunds nothing. The spec defines no text for one, nor for a pack
bought by hand, so the two cannot be told apart. The limits count by the UTC day (spec, Limits).
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
    """`entries` must include today's credits."""
    day_start = utc_midnight(now)
    today = sum(1 for entry in entries if entry.happened_at >= day_start and is_top_up_entry(entry))
    failed_at = row.failure_seen_at if row and row.consecutive_failures else None
    until = failed_at + FAILURE_COOLDOWN if failed_at else None
    cooldown_until = until if until and until > now else None
    return InferredTopUpState(today, day_start + timedelta(days=1), cooldown_until)


def is_stopped_by_failures(row: AutoTopUp) -> bool:
    """Whether the upstream switched it off. The failure count alone is not enough: it stays if a
    person switches top-up on again, and off later (spec, PUT rule 4)."""
    left_off = row.left_enabled is False and row.found_off_at is None
    return row.consecutive_failures >= MAX_TOP_UP_FAILURES and not row.enabled and not left_off


def utc_midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def is_top_up_entry(entry: LedgerEntry) -> bool:
    is_unmatched_credit = entry.amount > 0 and entry.charge_id is None
    return is_unmatched_credit and mentions_top_up(
        entry.label, entry.content_type, entry.transaction_type
    )


def mentions_top_up(*words: str) -> bool:
    """Refunds do not count: one may contain the title of what it refunds, such as a film about
    top-ups."""
    text = " ".join(words)
    return bool(TOP_UP_PATTERN.search(text)) and "refund" not in text.lower()
