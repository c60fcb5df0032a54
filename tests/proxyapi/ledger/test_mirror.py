"""The mirror holds every row of the ledger at its place, for the least number of requests."""

from __future__ import annotations

import pytest

from proxyapi import ledger
from proxyapi.models import Account, DailyBreakdown, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row, mirrored_amounts

pytestmark = pytest.mark.usefixtures("small_pages")


def numbered(low: int, high: int) -> list[dict[str, str]]:
    return [ledger_row(-number - 1, number) for number in range(low, high)]


def shown(book: ScriptedLedger) -> list[str]:
    return [row["credit_spend"] for row in book.rows]


def test_an_empty_ledger_is_whole(account: Account, scripted_ledger: ScriptedLedger) -> None:
    assert ledger.mirror_entries(account)
    assert scripted_ledger.all_pages() == [1]


def test_the_newest_rows_come_first_and_every_page_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*numbered(0, 43))
    assert ledger.mirror_entries(account)
    assert scripted_ledger.all_pages() == [1, 5, 4, 3, 2, 1]
    assert mirrored_amounts(account) == shown(scripted_ledger)


def test_an_up_to_date_mirror_asks_one_page(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*numbered(0, 40))
    ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    assert ledger.mirror_entries(account)
    assert scripted_ledger.pages == [(4, "")]
    assert LedgerEntry.objects.count() == 40


def test_new_rows_are_read_on_from_the_last_known_one(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*numbered(0, 20))
    ledger.mirror_entries(account)
    scripted_ledger.add_row(*numbered(20, 42))
    scripted_ledger.pages.clear()
    assert ledger.mirror_entries(account)
    assert scripted_ledger.all_pages() == [2, 3, 4, 5]
    assert mirrored_amounts(account) == shown(scripted_ledger)


def test_pitfall_62_equal_rows_are_two_rows(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """pitfall_61: no id distinguishes them; each has its position."""
    scripted_ledger.add_row(*[ledger_row("-4") for _ in range(24)])
    ledger.mirror_entries(account)
    assert mirrored_amounts(account) == ["-4"] * 24


def test_pitfall_63_rows_that_arrive_while_paging_shift_nothing(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*numbered(0, 35))
    scripted_ledger.before_page = lambda: scripted_ledger.add_row(
        *numbered(len(scripted_ledger.rows), len(scripted_ledger.rows) + 3)
    )
    ledger.mirror_entries(account)
    scripted_ledger.before_page = lambda: None
    ledger.mirror_entries(account)
    assert mirrored_amounts(account) == shown(scripted_ledger)


@pytest.mark.parametrize("after", range(1, 7))
def test_reading_that_was_cut_off_goes_on_where_it_was(
    account: Account, scripted_ledger: ScriptedLedger, after: int
) -> None:
    scripted_ledger.add_row(*numbered(0, 43))
    scripted_ledger.cut_after = after
    with pytest.raises(errors.UpstreamError):
        while True:
            ledger.mirror_entries(account)
            scripted_ledger.add_row(ledger_row("-9"))
    scripted_ledger.cut_after = None
    assert ledger.mirror_entries(account)
    assert mirrored_amounts(account) == shown(scripted_ledger)
    assert len(scripted_ledger.all_pages()) <= 8 + after


def test_days_are_summed_as_rows_come(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(ledger_row("-4"), ledger_row("-0.68"), ledger_row("100"))
    ledger.mirror_entries(account)
    amounts = sorted(DailyBreakdown.objects.values_list("amount", flat=True))
    assert [str(amount) for amount in amounts] == ["-4.6800", "100.0000"]


def test_its_progress_is_reported(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(*numbered(0, 43))
    scripted_ledger.cut_after = 5  # two of the view source=api among them
    with pytest.raises(errors.UpstreamError):
        ledger.mirror_entries(account)
    row = LedgerMirror.objects.get()
    assert (row.low, row.high, row.total) == (30, 43, 43)
    assert row.read_at is not None
    assert not row.is_complete
