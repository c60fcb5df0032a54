"""Reconciliation: balance, ledger and charges held against each other, and what to do about it."""

from __future__ import annotations

from dashboard.queries.reconciliation.decisions import (
    anchoring,
    matching,
    rewording,
    rewording_all,
    taken_over,
    writing_off,
)
from dashboard.queries.reconciliation.let_go import let_go_of
from dashboard.queries.reconciliation.page import Page, page_of

__all__ = [
    "Page",
    "anchoring",
    "let_go_of",
    "matching",
    "page_of",
    "rewording",
    "rewording_all",
    "taken_over",
    "writing_off",
]
