"""The upstream's credit ledger: mirrored by position, matched to charges, weighed (law 4)."""

from __future__ import annotations

from proxyapi.ledger.matching import link, match
from proxyapi.ledger.mirror import mirror
from proxyapi.ledger.rewrites import accept, accept_all
from proxyapi.ledger.trace import NEAR, Sight, debit_alone, debit_of, read, take, trace_of

__all__ = [
    "NEAR",
    "Sight",
    "accept",
    "accept_all",
    "debit_alone",
    "debit_of",
    "link",
    "match",
    "mirror",
    "read",
    "take",
    "trace_of",
]
