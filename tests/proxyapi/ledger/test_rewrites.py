"""A row that reads differently, or is gone, stops the mirror until a person has looked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import backfill, conflicts, mirror_range, recheck_old_pages
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.models import Account, LedgerConflict, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from tests.factories import UserFactory
from tests.proxyapi.ledger.conftest import Book, line, mirrored


@pytest.fixture
def whole(account: Account, book: Book) -> Book:
    """A mirrored ledger of 120 rows."""
    book.add(*[line(-number - 1, number) for number in range(120)])
    assert ledger.mirror_entries(account)
    book.pages.clear()
    return book


def patrolled(account: Account) -> None:
    """A reading ten minutes after the last page was compared."""
    long_ago = timezone.now() - recheck_old_pages.RECHECK_INTERVAL
    LedgerMirror.objects.filter(pk=account.pk).update(patrolled_at=long_ago)
    ledger.mirror_entries(account)


def test_law_4_a_row_that_reads_differently_stops_the_mirror(account: Account, whole: Book) -> None:
    whole.rows[119] = line("-119.5", 119)
    whole.add(line("-7", 200))
    assert not ledger.mirror_entries(account)
    rewrite = LedgerConflict.objects.get()
    assert (rewrite.position, rewrite.before["credit_spend"]) == (119, "-120")
    assert rewrite.after is not None
    assert rewrite.after["credit_spend"] == "-119.5"
    problem = LedgerMirror.objects.get().problem
    assert problem.startswith("Row 120 of the service's ledger reads differently now: it was “-120")
    assert len(mirrored(account)) == 120


def test_a_stopped_mirror_asks_nothing(account: Account, whole: Book) -> None:
    whole.rows[119] = line("-1")
    ledger.mirror_entries(account)
    whole.pages.clear()
    assert not ledger.mirror_entries(account)
    assert whole.pages == []


def test_the_services_version_can_be_taken(account: Account, whole: Book) -> None:
    mira = UserFactory()
    whole.rows[119] = line("-119.5", 119)
    whole.add(line("-7", 200))
    ledger.mirror_entries(account)
    ledger.accept_upstream_version(LedgerConflict.objects.get(), mira.pk)
    assert ledger.mirror_entries(account)
    assert mirrored(account)[-2:] == ["-119.5", "-7"]
    rewrite = LedgerConflict.objects.get()
    assert rewrite.accepted_by_id == mira.pk
    assert LedgerMirror.objects.get().problem == ""


def test_a_ledger_that_got_shorter_stops_the_mirror(account: Account, whole: Book) -> None:
    del whole.rows[117:]
    assert not ledger.mirror_entries(account)
    gone = LedgerConflict.objects.order_by("position")
    assert [(one.position, one.after) for one in gone] == [(117, None), (118, None), (119, None)]
    assert "it had 120 rows, now it has 117" in LedgerMirror.objects.get().problem
    assert len(mirrored(account)) == 120


def test_a_shorter_ledger_can_be_taken(account: Account, whole: Book) -> None:
    del whole.rows[117:]
    ledger.mirror_entries(account)
    ledger.accept_upstream_version(LedgerConflict.objects.order_by("position")[0], UserFactory().pk)
    whole.add(line("-8", 300))
    assert ledger.mirror_entries(account)
    assert mirrored(account) == [row["credit_spend"] for row in whole.rows]


def test_a_ledger_that_lost_most_of_its_rows_stops_the_mirror_all_the_same(
    account: Account, whole: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are gone: the first of them are listed, the sentence tells the number."""
    monkeypatch.setattr(conflicts, "MAX_LISTED_MISSING_ROWS", 3)
    high = len(whole.rows)
    whole.rows[:] = whole.rows[:2]
    ledger.mirror_entries(account)
    assert f"it had {high} rows, now it has 2" in LedgerMirror.objects.get().problem
    assert list(LedgerConflict.objects.values_list("position", flat=True)) == [2, 3, 4]


def test_an_empty_ledger_after_a_full_one_is_noticed(account: Account, whole: Book) -> None:
    whole.rows.clear()
    assert not ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert ledger.mirror_entries(account)
    assert not LedgerEntry.objects.exists()


def test_a_row_that_was_taken_out_of_the_middle_is_found_to_its_place(
    account: Account, whole: Book
) -> None:
    """Every row behind it moved: page by page a person takes them, and then it is whole again."""
    del whole.rows[60]
    for _ in range(8):
        patrolled(account)
        ledger.accept_all_upstream_versions(
            account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
        )
    assert mirrored(account) == [row["credit_spend"] for row in whole.rows]


def test_older_pages_are_compared_one_every_ten_minutes(account: Account, whole: Book) -> None:
    for _ in range(4):
        patrolled(account)
        ledger.mirror_entries(account)
    assert whole.pages == [
        (page, "") for turn in (2, 1, 2, 1) for page in (3, turn, 3)
    ]  # the newest page each time, and an older one when it is due


def test_an_older_row_that_reads_differently_is_found_by_the_patrol(
    account: Account, whole: Book
) -> None:
    whole.rows[3] = line("-3.99", 3)
    patrolled(account)
    patrolled(account)
    assert LedgerConflict.objects.get().position == 3


def test_a_late_answer_does_not_make_the_ledger_shorter(account: Account, whole: Book) -> None:
    """Another worker mirrored three new rows while an older answer was on its way."""
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    late = source.fetch_page(3)
    whole.add(*[line("-9", 400 + minute) for minute in range(3)])
    ledger.mirror_entries(account)
    mirror_range.apply_page(account, late)
    assert LedgerMirror.objects.get().problem == ""
    assert len(mirrored(account)) == 123


def test_a_patrol_that_is_not_due_asks_nothing(account: Account, whole: Book) -> None:
    LedgerMirror.objects.update(
        patrolled_at=timezone.now() - recheck_old_pages.RECHECK_INTERVAL + timedelta(seconds=30)
    )
    ledger.mirror_entries(account)
    assert whole.pages == [(3, "")]


def test_all_that_was_read_may_be_gone_while_older_rows_are_still_to_be_read(
    account: Account, book: Book
) -> None:
    """What is left ends far beneath it: it is read as a ledger that was never seen."""
    book.add(*[line(-number - 1, number) for number in range(150)])
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    begun = backfill.catch_up_to_end(source)
    assert (begun.low, begun.high) == (100, 150)
    del book.rows[60:]
    assert not ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert not LedgerMirror.objects.get().is_complete
    assert ledger.mirror_entries(account)
    assert mirrored(account) == [row["credit_spend"] for row in book.rows]


def test_an_anchor_whose_rows_are_gone_is_forgotten_though_another_row_waits(
    account: Account, whole: Book
) -> None:
    """Else the balance would be held against rows that were let go."""
    assert ledger.take_checkpoint(account)
    whole.rows[110] = line("-110", 110)  # 1 cr less
    del whole.rows[117:]
    whole.balance += 1 + 118 + 119 + 120
    assert not ledger.mirror_entries(account)
    for position in (117, 110):
        ledger.accept_upstream_version(
            LedgerConflict.objects.get(position=position), UserFactory().pk
        )
    assert ledger.mirror_entries(account)
    assert ledger.take_checkpoint(account)
    assert ledger.build_reconciliation(account).difference == 0
