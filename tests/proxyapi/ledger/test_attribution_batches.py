"""Many rows are attributed in batches, so that a payer never waits long for them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import pytest
from django.db import connection
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from proxyapi import ledger
from proxyapi.ledger import api_view_alignment, entry_changes
from proxyapi.models import Account, DailyBreakdown, LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import rebuild_all_days
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row, make_mirrored_row

pytestmark = pytest.mark.postgresql

HOURS = 3600


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_view_alignment, "ATTRIBUTION_BATCH_SIZE", 3)


@pytest.fixture
def attributed_counts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each transaction attributed."""
    note, noted = entry_changes.record_entry_changes, list[int]()

    def count(account: Account, moments: Iterable[datetime], **how: bool) -> None:
        listed = list(moments)
        noted.append(len(listed))
        note(account, listed, **how)

    monkeypatch.setattr(entry_changes, "record_entry_changes", count)
    return noted


def told() -> list[bool | None]:
    return list(LedgerEntry.objects.order_by("position").values_list("via_api", flat=True))


def summed() -> dict[bool | None, tuple[int, int]]:
    """What the days say of each kind: credits and rows."""
    kinds = DailyBreakdown.objects.order_by().values_list("via_api")
    sums = kinds.annotate(Sum("amount"), Sum("entries"))
    return {kind: (int(amount), rows) for kind, amount, rows in sums}


def test_older_rows_are_attributed_in_several_transactions_and_all_of_them(
    account: Account, attributed_counts: list[int]
) -> None:
    """Over three days, and the sums of each of them know of it."""
    for number in range(10):
        make_mirrored_row(account, number, 7 * HOURS * number, via_api=None)
    make_mirrored_row(account, 10, 7 * HOURS * 10, via_api=True)
    LedgerMirror.objects.create(account=account, high=11, total=11, api_high=1)
    rebuild_all_days(account)
    api_view_alignment.finish_attribution(account)
    assert attributed_counts == [3, 3, 3, 1, 0]
    assert told() == [False] * 10 + [True]
    assert summed() == {False: (-40, 10), True: (-4, 1)}


def test_who_was_interrupted_goes_on_where_it_was(account: Account) -> None:
    for number in range(10):
        make_mirrored_row(account, number, number, via_api=None)
    make_mirrored_row(account, 10, 10, via_api=True)
    LedgerMirror.objects.create(account=account, high=11, total=11, api_high=1)
    assert api_view_alignment.finish_attribution_batch(account)
    assert told() == [None] * 7 + [False] * 3 + [True]
    api_view_alignment.finish_attribution(account)
    assert told() == [False] * 10 + [True]


def test_a_view_that_is_not_aligned_to_its_beginning_attributes_no_older_rows(
    account: Account,
) -> None:
    make_mirrored_row(account, 0, 0, via_api=None)
    make_mirrored_row(account, 1, 1, via_api=True)
    LedgerMirror.objects.create(account=account, high=2, total=2, api_low=1, api_high=2)
    api_view_alignment.finish_attribution(account)
    assert told() == [None, True]


def test_no_statement_names_more_rows_than_a_lot(account: Account) -> None:
    """A page of the view may pass over more of them than a database takes parameters."""
    rows = [make_mirrored_row(account, number, number, via_api=None) for number in range(10)]
    with CaptureQueriesContext(connection) as asked:
        moments = api_view_alignment.set_via_api(rows, True)
    assert (told(), len(moments)) == ([True] * 10, 10)
    assert sum(one["sql"].startswith("UPDATE") for one in asked) == 4


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("of_api", [0, 1, 4], ids=["empty", "older alone", "newest"])
def test_however_many_rows_it_does_not_show_all_are_attributed_in_one_read(
    account: Account, scripted_ledger: ScriptedLedger, of_api: int
) -> None:
    for number in range(24):
        is_newest = of_api == 4 and number >= 20
        scripted_ledger.add_row(ledger_row(-1, number), web=not is_newest and number >= of_api % 4)
    ledger.mirror_entries(account)
    assert told() == [number not in scripted_ledger.web for number in range(24)]


def test_rows_newer_than_the_last_one_that_it_shows_are_attributed_at_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 0))
    ledger.mirror_entries(account)
    scripted_ledger.add_row(*[ledger_row(-2, 1 + number) for number in range(10)], web=True)
    ledger.mirror_entries(account)
    assert told() == [True] + [False] * 10
    assert summed() == {True: (-1, 1), False: (-20, 10)}


def test_attribution_ends_before_the_first_row_that_has_none(account: Account) -> None:
    """There are no gaps; should there be one, it is looked at again with what lies beneath."""
    for number, via_api in enumerate([False, None, False, True, False, None]):
        make_mirrored_row(account, number, number, via_api=via_api)
    ours = LedgerMirror.objects.create(account=account, high=6, total=6, api_high=1)
    assert api_view_alignment.lowest_attributed_position(ours) == 2
    LedgerEntry.objects.filter(via_api=True).update(via_api=False)
    ours.api_high = 0
    assert api_view_alignment.lowest_attributed_position(ours) == 2
    LedgerEntry.objects.filter(position=1).update(via_api=False)
    assert api_view_alignment.lowest_attributed_position(ours) == 0
    LedgerEntry.objects.update(via_api=None)
    assert api_view_alignment.lowest_attributed_position(ours) is None
