"""The ledger of Northlight, as the overview's tests write it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests.dashboard.overview.conftest import account, add_entry, ledger, make_charge, token

__all__ = ["account", "add_entry", "ledger", "make_charge", "token"]


@pytest.fixture
def set_checkpoint(ledger):
    """Says that the service shows this balance, and with which it all began."""

    def weigh(shown: int, opening: int) -> None:
        ledger.refresh_from_db()
        entries = sum(entry.amount for entry in ledger.account.entries.all())
        ledger.anchor_balance, ledger.anchor_high = Decimal(opening), 0
        ledger.balance_exact, ledger.checkpoint_high = Decimal(shown), ledger.high
        ledger.checkpoint_sum = Decimal(entries)
        ledger.anchor_at = ledger.checkpoint_at = ledger.read_at = timezone.now()
        ledger.save()

    return weigh


@pytest.fixture
def unknown_charge(make_charge, luca):
    """Luca's render of 42 cr, sent an hour ago; nobody knows what became of it."""
    return make_charge(
        state="unknown",
        member=luca,
        quote=Decimal(42),
        hold=Decimal(46),
        sent_at=timezone.now() - timedelta(hours=1),
    )
