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
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row, mirrored_amounts
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.usefixtures("small_pages")


@pytest.fixture
def mirrored_ledger(account: Account, scripted_ledger: ScriptedLedger) -> ScriptedLedger:
    """A mirrored ledger of three pages, 24 rows."""
    scripted_ledger.add_row(*[ledger_row(-number - 1, number) for number in range(24)])
    assert ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    return scripted_ledger


def run_recheck(account: Account) -> None:
    """A reading ten minutes after the last page was compared."""
    long_ago = timezone.now() - recheck_old_pages.RECHECK_INTERVAL
    LedgerMirror.objects.filter(pk=account.pk).update(rechecked_at=long_ago)
    ledger.mirror_entries(account)


def test_rule_4_a_row_that_reads_differently_stops_the_mirror(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    mirrored_ledger.rows[23] = ledger_row("-23.5", 23)
    mirrored_ledger.add_row(ledger_row("-7", 200))
    assert not ledger.mirror_entries(account)
    rewrite = LedgerConflict.objects.get()
    assert (rewrite.position, rewrite.before["credit_spend"]) == (23, "-24")
    assert rewrite.after is not None
    assert rewrite.after["credit_spend"] == "-23.5"
    problem = LedgerMirror.objects.get().problem
    assert problem.startswith("Row 24 of the service's ledger has changed: it was “-24")
    assert len(mirrored_amounts(account)) == 24


def test_a_stopped_mirror_asks_only_for_the_page_of_its_conflict(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    mirrored_ledger.rows[23] = ledger_row("-1")
    ledger.mirror_entries(account)
    mirrored_ledger.pages.clear()
    assert not ledger.mirror_entries(account)
    assert mirrored_ledger.pages == [(3, "")]


def test_the_services_version_can_be_taken(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    mira = UserFactory()
    mirrored_ledger.rows[23] = ledger_row("-23.5", 23)
    mirrored_ledger.add_row(ledger_row("-7", 200))
    ledger.mirror_entries(account)
    ledger.accept_upstream_version(LedgerConflict.objects.get(), mira.pk)
    assert ledger.mirror_entries(account)
    assert mirrored_amounts(account)[-2:] == ["-23.5", "-7"]
    rewrite = LedgerConflict.objects.get()
    assert rewrite.accepted_by_id == mira.pk
    assert LedgerMirror.objects.get().problem == ""


def test_a_ledger_that_got_shorter_stops_the_mirror(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    del mirrored_ledger.rows[21:]
    assert not ledger.mirror_entries(account)
    gone = LedgerConflict.objects.order_by("position")
    assert [(one.position, one.after) for one in gone] == [(21, None), (22, None), (23, None)]
    assert "it had 24, now it has 21" in LedgerMirror.objects.get().problem
    assert len(mirrored_amounts(account)) == 24


def test_a_shorter_ledger_can_be_taken(account: Account, mirrored_ledger: ScriptedLedger) -> None:
    del mirrored_ledger.rows[21:]
    ledger.mirror_entries(account)
    ledger.accept_upstream_version(LedgerConflict.objects.order_by("position")[0], UserFactory().pk)
    mirrored_ledger.add_row(ledger_row("-8", 300))
    assert ledger.mirror_entries(account)
    assert mirrored_amounts(account) == [row["credit_spend"] for row in mirrored_ledger.rows]


def test_a_ledger_that_lost_most_of_its_rows_stops_the_mirror_all_the_same(
    account: Account, mirrored_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many are gone: the first of them are listed, the sentence tells the number."""
    monkeypatch.setattr(conflicts, "MAX_LISTED_MISSING_ROWS", 3)
    high = len(mirrored_ledger.rows)
    mirrored_ledger.rows[:] = mirrored_ledger.rows[:2]
    ledger.mirror_entries(account)
    assert f"it had {high}, now it has 2" in LedgerMirror.objects.get().problem
    assert list(LedgerConflict.objects.values_list("position", flat=True)) == [2, 3, 4]


def test_an_empty_ledger_after_a_full_one_is_noticed(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    mirrored_ledger.rows.clear()
    assert not ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert ledger.mirror_entries(account)
    assert not LedgerEntry.objects.exists()


def test_a_row_that_was_taken_out_of_the_middle_is_found_to_its_place(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    """Every row behind it moved: page by page a person takes them, and then it is whole again."""
    del mirrored_ledger.rows[12]
    for _ in range(8):
        run_recheck(account)
        ledger.accept_all_upstream_versions(
            account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
        )
    assert mirrored_amounts(account) == [row["credit_spend"] for row in mirrored_ledger.rows]


def test_older_pages_are_compared_one_every_ten_minutes(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    for _ in range(4):
        run_recheck(account)
        ledger.mirror_entries(account)
    assert mirrored_ledger.pages == [
        (page, "") for turn in (2, 1, 2, 1) for page in (3, turn, 3)
    ]  # the newest page each time, and an older one when it is due


def test_an_older_row_that_reads_differently_is_found_by_the_recheck(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    mirrored_ledger.rows[3] = ledger_row("-3.99", 3)
    run_recheck(account)
    run_recheck(account)
    assert LedgerConflict.objects.get().position == 3


def test_a_late_answer_does_not_make_the_ledger_shorter(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    """Another worker mirrored three new rows while an older answer was on its way."""
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    late = source.fetch_page_at(20)
    mirrored_ledger.add_row(*[ledger_row("-9", 400 + minute) for minute in range(3)])
    ledger.mirror_entries(account)
    mirror_range.apply_page(account, late)
    assert LedgerMirror.objects.get().problem == ""
    assert len(mirrored_amounts(account)) == 27


def test_a_recheck_that_is_not_due_requests_nothing(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    LedgerMirror.objects.update(
        rechecked_at=timezone.now() - recheck_old_pages.RECHECK_INTERVAL + timedelta(seconds=30)
    )
    ledger.mirror_entries(account)
    assert mirrored_ledger.pages == [(3, "")]


def test_all_that_was_read_may_be_gone_while_older_rows_are_still_to_be_read(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """What is left ends far beneath it: it is read as a ledger that was never seen."""
    scripted_ledger.add_row(*[ledger_row(-number - 1, number) for number in range(30)])
    source = open_ledger_reader(account, Priority.LEDGER_SYNC)
    assert source is not None
    begun = backfill.catch_up_to_end(source)
    assert (begun.low, begun.high) == (20, 30)
    del scripted_ledger.rows[12:]
    assert not ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert not LedgerMirror.objects.get().is_complete
    assert ledger.mirror_entries(account)
    assert mirrored_amounts(account) == [row["credit_spend"] for row in scripted_ledger.rows]


def test_an_anchor_whose_rows_are_gone_is_forgotten_though_another_row_waits(
    account: Account, mirrored_ledger: ScriptedLedger
) -> None:
    """Else the balance would be held against rows that were let go."""
    assert ledger.take_checkpoint(account)
    mirrored_ledger.rows[20] = ledger_row("-20", 20)  # 1 cr less
    del mirrored_ledger.rows[21:]
    mirrored_ledger.balance += 1 + 22 + 23 + 24
    assert not ledger.mirror_entries(account)
    for position in (21, 20):
        ledger.accept_upstream_version(
            LedgerConflict.objects.get(position=position), UserFactory().pk
        )
    assert ledger.mirror_entries(account)
    assert ledger.take_checkpoint(account)
    assert build_reconciliation(account).difference == 0
