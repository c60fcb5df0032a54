"""Charges as the overview's tests make them."""

from __future__ import annotations

from tests.dashboard.overview.conftest import account, book, charged, ledger, token

__all__ = ["account", "book", "charged", "ledger", "token"]
