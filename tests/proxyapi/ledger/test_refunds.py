"""Refunds that are not quite what was told: their charges find them all the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from proxyapi import ledger
from proxyapi.models import Account, Entry
from tests.proxyapi.ledger.conftest import START, Book, Confirmed, line, matches


def refund(amount: int = 30, minute: float = 5, **words: Any) -> dict[str, Any]:
    return line(amount, minute, **{"transaction_type": "Refund", **words})


def test_a_refund_is_of_what_was_booked_where_another_price_was_told(
    account: Account, book: Book, owed: Confirmed
) -> None:
    charge = owed(94)
    book.add(line(-96), refund(96))
    ledger.mirror(account)
    charge.refresh_from_db()
    assert charge.refunded_at == START + timedelta(minutes=5)
    assert matches() == [(0, "weak"), (1, "likely")]
    told = "Gives back the 96 cr that were booked for it, though 94 cr were told."
    assert Entry.objects.get(position=1).reason == told
    assert ledger.books(account).refunds_owed == []


def test_a_refund_may_be_of_what_was_told(account: Account, book: Book, owed: Confirmed) -> None:
    owed(94)
    book.add(line(-96), refund(94))
    ledger.mirror(account)
    assert matches() == [(0, "weak"), (1, "certain")]


def test_nobody_takes_anothers_refund_for_what_was_told(
    account: Account, book: Book, owed: Confirmed
) -> None:
    other, equal = owed(94, minute=0), owed(94, minute=20)
    book.add(line(-96, 0), line(-94, 20), refund(94, 25))
    ledger.mirror(account)
    assert Entry.objects.get(position=2).charge_id == equal.pk
    book.add(refund(96, 26))
    ledger.mirror(account)
    assert Entry.objects.get(position=3).charge_id == other.pk
