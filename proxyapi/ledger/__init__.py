"""The upstream's credit ledger: mirrored by position, matched to charges, weighed (law 4)."""

from __future__ import annotations

from proxyapi.ledger.books import Books, books
from proxyapi.ledger.differences import Difference
from proxyapi.ledger.matching import link, match
from proxyapi.ledger.mirror import mirror
from proxyapi.ledger.rewrites import Standing, accept, accept_all, standing
from proxyapi.ledger.trace import (
    Sight,
    debit_alone,
    debit_of,
    late_debit_of,
    read,
    still_whole,
    take,
    take_late,
    trace_of,
)
from proxyapi.ledger.turn import due, take_turn
from proxyapi.ledger.weighing import anchor_again, weigh

__all__ = [
    "Books",
    "Difference",
    "Sight",
    "Standing",
    "accept",
    "accept_all",
    "anchor_again",
    "books",
    "debit_alone",
    "debit_of",
    "due",
    "late_debit_of",
    "link",
    "match",
    "mirror",
    "read",
    "standing",
    "still_whole",
    "take",
    "take_late",
    "take_turn",
    "trace_of",
    "weigh",
]
