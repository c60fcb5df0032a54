"""Rows and pages that cannot be read: none stops the mirror, none vanishes, none is guessed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from proxyapi import ledger
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.proxyapi.ledger.conftest import HISTORY, Book, line
from tests.proxyapi.upstream_script import Upstream, answer

STRANGE = [
    (line("four"), "four", 0, "amount"),
    (line(None), "None", 0, "amount"),
    (line("-1e400"), "-1e400", 0, "amount"),
    (line("-0.12345"), "-0.12345", "-0.1234", "decimals"),
    (line("-4", created_at="yesterday"), "-4", -4, "time"),
    (line("-4", created_at="2026-07-04T12:00:00"), "-4", -4, "time"),
    (line("-4", created_at="0001-01-01T00:00:00+23:59"), "-4", -4, "time"),
    ({}, "", 0, "amount"),
    ("?", "", 0, "none of a ledger"),
    (None, "", 0, "none of a ledger"),
    (["-4"], "", 0, "none of a ledger"),
]


@pytest.mark.parametrize(("raw", "words", "amount", "trouble"), STRANGE)
def test_a_strange_row_keeps_its_words_and_its_place(
    account: Account, book: Book, raw: Any, words: str, amount: object, trouble: str
) -> None:
    """pitfall_68: a time without its offset is nobody's time."""
    book.rows = [line("-1", 1), raw, line("-2", 2)]
    assert ledger.mirror_entries(account)
    entry = LedgerEntry.objects.get(position=1)
    assert entry.credit_spend == words
    assert str(entry.amount.normalize()) == str(amount)
    assert trouble in entry.trouble
    assert LedgerEntry.objects.count() == 3
    assert ledger.mirror_entries(account), "it reads the same every time"


def test_a_row_without_a_time_stands_at_its_neighbours(account: Account, book: Book) -> None:
    lost = line("-2", created_at=None)
    book.rows = [lost, line("-1", 1), lost, line("-3", 3), lost]
    ledger.mirror_entries(account)
    times = LedgerEntry.objects.order_by("position").values_list("happened_at__minute", flat=True)
    assert list(times) == [1, 1, 1, 3, 3]


def test_a_strange_row_is_told_in_the_books(account: Account, book: Book) -> None:
    book.rows = [line("four")]
    ledger.mirror_entries(account)
    whats = [one.description for one in ledger.build_reconciliation(account).differences]
    assert [what.partition(": ")[0] for what in whats] == [
        "Row 1 of the ledger, “four Script generation”"
    ]


def test_pitfall_60_amounts_are_exact_and_signed(account: Account, book: Book) -> None:
    amounts = ["-0.68", "-12.16", "+100", "1,250", "-96", "0"]
    book.add(*[line(amount) for amount in amounts])
    ledger.mirror_entries(account)
    read = LedgerEntry.objects.order_by("position").values_list("amount", flat=True)
    assert [f"{amount.normalize():f}" for amount in read] == [
        "-0.68", "-12.16", "100", "1250", "-96", "0",
    ]  # fmt: skip


def test_words_that_are_too_long_are_cut_and_stay_the_same_row(
    account: Account, book: Book
) -> None:
    book.add(line("-4", label="x" * 900, content_type="y" * 900, transaction_type="z" * 900))
    assert ledger.mirror_entries(account)
    assert ledger.mirror_entries(account)
    assert len(LedgerEntry.objects.get().label) == 200


@pytest.mark.parametrize(
    "page",
    [
        answer([line()]),
        answer([line()], total="many"),
        answer([line()], total=-1),
        answer([line()], total=3),
        answer([line()] * 51, total=51),
        answer({"rows": []}, total=0),
        answer([line()], total=1, per_page=12),
        answer([line()], total=1, current_page=2),
        httpx.Response(200, text="<html>"),
    ],
)
def test_a_page_that_is_not_what_was_asked_for_teaches_nothing(
    account: Account, book: Book, upstream: Upstream, page: httpx.Response
) -> None:
    """pitfall_64: a service that shows other pages than were asked for would shift every row."""
    upstream.on(*HISTORY, page)
    with pytest.raises(errors.AnswerLost):
        ledger.mirror_entries(account)
    assert not LedgerEntry.objects.exists()
    assert LedgerMirror.objects.get().read_at is None
