"""Rows and pages that cannot be read: none stops the mirror, none vanishes, none is guessed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from proxyapi import ledger
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.proxyapi.ledger.conftest import HISTORY, ScriptedLedger, ledger_row
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.postgresql

STRANGE = [
    (ledger_row("four"), "four", 0, "amount"),
    (ledger_row(None), "None", 0, "amount"),
    (ledger_row("-1e400"), "-1e400", 0, "amount"),
    (ledger_row("-0.12345"), "-0.12345", "-0.1234", "decimals"),
    (ledger_row("-4", created_at="yesterday"), "-4", -4, "time"),
    (ledger_row("-4", created_at="2026-07-04T12:00:00"), "-4", -4, "time"),
    (ledger_row("-4", created_at="0001-01-01T00:00:00+23:59"), "-4", -4, "time"),
    ({}, "", 0, "amount"),
    ("?", "", 0, "not a ledger row"),
    (None, "", 0, "not a ledger row"),
    (["-4"], "", 0, "not a ledger row"),
]


@pytest.mark.parametrize(("raw", "words", "amount", "trouble"), STRANGE)
def test_a_strange_row_keeps_its_words_and_its_place(
    account: Account,
    scripted_ledger: ScriptedLedger,
    raw: Any,
    words: str,
    amount: object,
    trouble: str,
) -> None:
    """pitfall_68: a time without its offset is nobody's time."""
    scripted_ledger.rows = [ledger_row("-1", 1), raw, ledger_row("-2", 2)]
    assert ledger.mirror_entries(account)
    entry = LedgerEntry.objects.get(position=1)
    assert entry.credit_spend == words
    assert str(entry.amount.normalize()) == str(amount)
    assert trouble in entry.trouble
    assert LedgerEntry.objects.count() == 3
    assert ledger.mirror_entries(account), "it reads the same every time"


def test_a_row_without_a_time_stands_at_its_neighbours(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    lost = ledger_row("-2", created_at=None)
    scripted_ledger.rows = [lost, ledger_row("-1", 1), lost, ledger_row("-3", 3), lost]
    ledger.mirror_entries(account)
    times = LedgerEntry.objects.order_by("position").values_list("happened_at__minute", flat=True)
    assert list(times) == [1, 1, 1, 3, 3]


def test_an_unreadable_row_is_shown_in_the_reconciliation(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.rows = [ledger_row("four")]
    ledger.mirror_entries(account)
    found = build_reconciliation(account).differences
    assert [one.kind for one in found] == ["row 1 unreadable"]


def test_pitfall_60_amounts_are_exact_and_signed(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    amounts = ["-0.68", "-12.16", "+100", "1,250", "-96", "0"]
    scripted_ledger.add_row(*[ledger_row(amount) for amount in amounts])
    ledger.mirror_entries(account)
    read = LedgerEntry.objects.order_by("position").values_list("amount", flat=True)
    assert [f"{amount.normalize():f}" for amount in read] == [
        "-0.68", "-12.16", "100", "1250", "-96", "0",
    ]  # fmt: skip


def test_words_that_are_too_long_are_cut_and_stay_the_same_row(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(
        ledger_row("-4", label="x" * 900, content_type="y" * 900, transaction_type="z" * 900)
    )
    assert ledger.mirror_entries(account)
    assert ledger.mirror_entries(account)
    assert len(LedgerEntry.objects.get().label) == 200


@pytest.mark.parametrize(
    "page",
    [
        make_response([ledger_row()]),
        make_response([ledger_row()], total="many"),
        make_response([ledger_row()], total=-1),
        make_response([ledger_row()], total=3),
        make_response([ledger_row()] * 51, total=51),
        make_response({"rows": []}, total=0),
        make_response([ledger_row()], total=1, per_page=12),
        make_response([ledger_row()], total=1, current_page=2),
        httpx.Response(200, text="<html>"),
    ],
)
def test_a_page_that_is_not_what_was_asked_for_teaches_nothing(
    account: Account,
    scripted_ledger: ScriptedLedger,
    upstream: ScriptedUpstream,
    page: httpx.Response,
) -> None:
    """pitfall_64: a service that shows other pages than were asked for would shift every row."""
    upstream.respond(*HISTORY, page)
    with pytest.raises(errors.ResponseLost):
        ledger.mirror_entries(account)
    assert not LedgerEntry.objects.exists()
    assert LedgerMirror.objects.get().read_at is None
