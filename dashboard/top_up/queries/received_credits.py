"""Credits that came in: what the ledger says, and the failures that it does not show."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.top_up.queries.page_data import ARRIVALS_WINDOW, TopUpFacts
from proxyapi.top_up import is_top_up_entry

MAX_ARRIVALS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class CreditArrival:
    """`known`: how we know. A failure has no credits."""

    at: datetime
    what: str
    source: str
    credits: Decimal | None


def build_credit_arrivals(facts: TopUpFacts) -> tuple[CreditArrival, ...]:
    """The newest first."""
    found = [
        CreditArrival(
            row.happened_at,
            row.label or row.content_type or "Credits",
            "Ledger, by its own words" if is_top_up_entry(row) else "Ledger",
            row.amount,
        )
        for row in facts.credit_entries[:MAX_ARRIVALS_SHOWN]
    ]
    failed_at = facts.row.failure_seen_at
    if failed_at and failed_at >= facts.now - ARRIVALS_WINDOW:
        known = "The count of failures went up; seen then, it failed before"
        found.append(CreditArrival(failed_at, "Automatic top-up failed", known, None))
    return tuple(sorted(found, key=lambda one: one.at, reverse=True)[:MAX_ARRIVALS_SHOWN])
