"""Once the service's version of rows was taken, balance, view and matches are of these rows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import differences, recheck_old_pages, sync_schedule
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import StaleData
from tests.factories import UserFactory
from tests.proxyapi.ledger.conftest import Book, Confirmed, line


def gap(account: Account) -> Decimal:
    """What the balance differs by from the rows, weighed just now."""
    assert ledger.take_checkpoint(account)
    return differences.balance_difference(LedgerMirror.objects.get())


def taken(account: Account) -> None:
    """The patrol goes through all pages, and somebody takes what it finds."""
    for _ in range(4):
        long_ago = timezone.now() - recheck_old_pages.RECHECK_INTERVAL
        LedgerMirror.objects.filter(pk=account.pk).update(patrolled_at=long_ago)
        ledger.mirror_entries(account)
        ledger.accept_all_upstream_versions(
            account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
        )
    assert ledger.mirror_entries(account)


@pytest.fixture
def weighed(account: Account, book: Book) -> Book:
    """Ten rows, weighed; then 5,000 cr came without a row, and two rows more."""
    book.add(*[line(-number - 1, number) for number in range(10)])
    assert ledger.mirror_entries(account)
    assert gap(account) == 0
    book.balance += 5000
    book.add(line("-20", 20), line("-30", 21))
    book.balance -= 50
    assert gap(account) == 5000
    return book


@pytest.mark.parametrize("place", [0, 4, 9, 10, 11])
@pytest.mark.parametrize("is_given_back", [True, False])
def test_what_balance_and_rows_differed_by_outlives_a_row_that_is_gone(
    account: Account, weighed: Book, place: int, is_given_back: bool
) -> None:
    """With what the row took, where the balance does not know of it."""
    gone = Decimal(weighed.rows.pop(place)["credit_spend"])
    weighed.balance -= gone if is_given_back else 0
    taken(account)
    assert gap(account) == 5000 + (0 if is_given_back else gone)


def test_what_a_changed_row_takes_more_is_a_difference(account: Account, weighed: Book) -> None:
    weighed.rows[2] = line("-40", 2)
    taken(account)
    assert gap(account) == 5000 + 37


def test_nothing_is_let_go_before_it_is_weighed_anew(account: Account, weighed: Book) -> None:
    """Else the rows' new difference would go with the one that was seen."""
    weighed.rows[11] = line("-66", 21)
    ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    with pytest.raises(StaleData):
        ledger.rebase_balance(account, Decimal(5000))
    assert gap(account) == 5036


def test_what_the_view_told_does_not_stay_at_the_place_where_another_row_is_now(
    account: Account, book: Book
) -> None:
    book.add(line("-7", 0), web=True)
    book.add(line("-96", 1))
    book.add(line("-60", 2), line("-5", 3), web=True)
    book.add(line("-8", 4))
    ledger.sync_account(account.pk)
    assert told() == [False, True, False, False, True]
    del book.rows[0]
    book.web = {1, 2}
    ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert LedgerMirror.objects.get().sums_zone == "", "the sums of what was told are counted anew"
    taken(account)
    ledger.sync_account(account.pk)
    ledger.sync_account(account.pk)
    assert told() == [True, False, False, True]


def told() -> list[bool | None]:
    return list(LedgerEntry.objects.order_by("position").values_list("via_api", flat=True))


def test_a_row_that_was_only_renamed_keeps_its_charge(
    account: Account, book: Book, confirmed: Confirmed
) -> None:
    charge = confirmed("96", 1)
    book.add(line("-96", 1), line("-4", 2))
    ledger.mirror_entries(account)
    ledger.match_entries(account)
    assert LedgerEntry.objects.get(position=0).charge == charge
    book.rows[0] = {**book.rows[0], "label": "Render of a film"}
    taken(account)
    entry = LedgerEntry.objects.get(position=0)
    assert (entry.label, entry.charge) == ("Render of a film", charge)
    assert Charge.objects.get().booked_at is not None


@pytest.mark.parametrize(("hours", "lane"), [(0.5, "MIRRORING"), (1.5, "SETTLEMENT")])
def test_an_account_whose_videos_are_looked_at_all_day_is_weighed_each_hour(
    account: Account, book: Book, monkeypatch: pytest.MonkeyPatch, hours: float, lane: str
) -> None:
    book.add(line("-4", 1))
    ledger.sync_account(account.pk)
    LedgerMirror.objects.update(weighed_at=timezone.now() - timedelta(hours=hours), weighed_high=0)
    lanes: list[str] = []
    monkeypatch.setattr(
        sync_schedule,
        "take_checkpoint",
        lambda _, lane=Priority.LEDGER_SYNC: lanes.append(lane.name),
    )
    for _ in range(2):
        LedgerMirror.objects.update(due_at=None)
        ledger.sync_account(account.pk)
    assert lanes == [lane, "MIRRORING"], "what told nothing is not repeated before the looks"
