"""Charges as the overview's tests make them."""

from __future__ import annotations

from tests.dashboard.overview.conftest import account, add_entry, ledger, make_charge, token

__all__ = ["account", "add_entry", "ledger", "make_charge", "token"]
