"""One wrong page of the ledger stops nothing; one that stays wrong does, while it does."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db.models import F

from proxyapi import ledger
from proxyapi.ledger import mirror_range
from proxyapi.models import Account, LedgerConflict, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row, mirrored_amounts
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.postgresql

WRONG = {
    "empty": [],
    "a repeated row": [ledger_row("-1", 1), ledger_row("-1", 1), ledger_row("-3", 3)],
    "another amount": [ledger_row("-1", 1), ledger_row("-7", 2), ledger_row("-3", 3)],
}


@pytest.fixture
def mirrored(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> ScriptedLedger:
    monkeypatch.setattr(mirror_range, "CONTRADICTIONS_TO_BELIEVE", 3)
    scripted_ledger.rows = [ledger_row(f"-{minute}", minute) for minute in (1, 2, 3)]
    assert ledger.mirror_entries(account)
    return scripted_ledger


def read_seconds_later(account: Account) -> None:
    LedgerMirror.objects.update(doubted_at=F("doubted_at") - timedelta(seconds=5))
    with pytest.raises(errors.ResponseLost):
        ledger.mirror_entries(account)


@pytest.mark.parametrize("rows", WRONG.values(), ids=list(WRONG))
def test_a_wrong_page_is_read_twice_again_and_heals_by_itself(
    rows: list[dict[str, str]], account: Account, mirrored: ScriptedLedger
) -> None:
    known, mirrored.rows = mirrored.rows, rows
    read_seconds_later(account)
    with pytest.raises(errors.ResponseLost):  # of the same moment: it does not count
        ledger.mirror_entries(account)
    read_seconds_later(account)
    assert not LedgerConflict.objects.exists()
    mirrored.rows = known
    assert ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().doubts == 0
    mirrored.rows = rows
    for _ in range(2):
        read_seconds_later(account)
    LedgerMirror.objects.update(doubted_at=None)
    assert not ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().problem
    assert not ledger.mirror_entries(account)
    mirrored.rows = [*known, ledger_row("-4", 4)]
    assert ledger.mirror_entries(account)
    assert (LedgerMirror.objects.get().problem, LedgerConflict.objects.count()) == ("", 0)
    assert mirrored_amounts(account) == ["-1", "-2", "-3", "-4"]


@pytest.mark.parametrize(
    "strange", [ledger_row("-1e400", 2), ledger_row("-2", created_at="?"), "?"]
)
@pytest.mark.parametrize("is_before_anchor", [True, False])
def test_a_row_that_could_not_be_read_is_corrected_by_the_next_reading(
    strange: object, is_before_anchor: bool, account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.rows = [ledger_row("-1", 1)]
    if not is_before_anchor:
        assert ledger.take_checkpoint(account)
    scripted_ledger.add_row(strange)  # type: ignore[arg-type]
    scripted_ledger.balance -= 0 if is_before_anchor else 2
    ledger.mirror_entries(account)
    assert ledger.take_checkpoint(account)
    scripted_ledger.rows[1] = ledger_row("-2", 2)
    assert ledger.mirror_entries(account)
    entry = LedgerEntry.objects.get(position=1)
    assert (entry.amount, entry.trouble) == (Decimal(-2), "")
    assert not LedgerConflict.objects.exists()
    assert build_reconciliation(account).difference == 0


def test_rows_of_one_second_may_come_in_any_order(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Also if a new one of that second stands before a known one."""
    scripted_ledger.rows = [ledger_row("-1", 1), ledger_row("-2", 1), ledger_row("-3", 1)]
    assert ledger.mirror_entries(account)
    first, second, third = scripted_ledger.rows
    scripted_ledger.rows = [third, ledger_row("-4", 1), first, second, ledger_row("-5", 2)]
    assert ledger.mirror_entries(account)
    assert not LedgerConflict.objects.exists()
    assert mirrored_amounts(account) == ["-1", "-2", "-3", "-4", "-5"]
