"""The upstream's credit ledger: mirrored by position, matched to charges, weighed (law 4)."""

from __future__ import annotations

from proxyapi.ledger.mirror import mirror
from proxyapi.ledger.trace import (
    NEAR,
    PAGES,
    Debit,
    Extract,
    debit_alone,
    debit_of,
    extract,
    read,
    trace_of,
)

__all__ = [
    "NEAR",
    "PAGES",
    "Debit",
    "Extract",
    "debit_alone",
    "debit_of",
    "extract",
    "mirror",
    "read",
    "trace_of",
]
