"""A view that lags behind its ledger: a row that it does not show yet is nobody's for a while."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from tests.proxyapi.ledger.conftest import (
    MakeConfirmedCharge,
    ScriptedLedger,
    ledger_row,
    matched_positions,
)


def fresh(amount: int, seconds: int) -> dict[str, Any]:
    """A row that was booked so many seconds ago."""
    booked = timezone.now() - timedelta(seconds=seconds)
    return ledger_row(amount, created_at=booked.isoformat(timespec="seconds"))


def told() -> list[bool | None]:
    assert LedgerMirror.objects.get().api_problem == ""
    return list(LedgerEntry.objects.order_by("position").values_list("via_api", flat=True))


def test_a_new_row_that_it_does_not_show_is_attributed_when_it_does(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1))
    ledger.mirror_entries(account)
    scripted_ledger.add_row(fresh(-4, 9), fresh(-5, 8))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    assert told() == [True, None, None]
    scripted_ledger.view = scripted_ledger.rows[:2]
    ledger.mirror_entries(account)
    assert told() == [True, True, None]
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert told() == [True, True, True]


def test_rows_that_it_skips_are_attributed_at_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1))
    scripted_ledger.add_row(fresh(-4, 9), web=True)
    scripted_ledger.add_row(fresh(-5, 8))
    ledger.mirror_entries(account)
    assert told() == [True, False, True]


def test_after_half_a_minute_it_is_believed_and_then_still_corrected(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 40), fresh(-5, 39))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    assert told() == [True, False, False]
    scripted_ledger.add_row(fresh(-6, 2))
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert told() == [True, True, True, True]


def test_at_first_contact_it_lags_too(account: Account, scripted_ledger: ScriptedLedger) -> None:
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 9), fresh(-5, 8), fresh(-6, 7))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    assert told() == [True, None, None, None]


def test_a_first_row_that_it_does_not_show_yet(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(fresh(-4, 3))
    scripted_ledger.view = []
    ledger.mirror_entries(account)
    assert told() == [None]
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert told() == [True]


@pytest.mark.usefixtures("small_pages")
def test_while_the_newest_row_waits_older_pages_are_not_asked_for_it(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*[ledger_row(-1, number) for number in range(30)])
    ledger.mirror_entries(account)
    LedgerMirror.objects.update(api_low=20)  # as if the rest of the view were to be read yet
    scripted_ledger.add_row(fresh(-4, 3), web=True)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert [page for page, source in scripted_ledger.pages if source] == [3]


def test_a_charge_gets_its_debit_though_it_came_late(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    now = timezone.now()
    make_confirmed_charge(
        4, sent_at=now - timedelta(seconds=10), settled_at=now - timedelta(seconds=8)
    )
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 9))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    assert matched_positions() == []
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert matched_positions() == [(1, "certain")]


def test_a_debit_of_ours_is_asked_for_until_it_is_shown_though_no_other_row_comes(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    now = timezone.now()
    make_confirmed_charge(
        4, sent_at=now - timedelta(seconds=42), settled_at=now - timedelta(seconds=40)
    )
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 41))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    assert (told(), matched_positions()) == ([True, False], [])
    scripted_ledger.view = None
    ledger.mirror_entries(account)
    assert (told(), matched_positions()) == ([True, True], [(1, "certain")])


@pytest.mark.parametrize(
    ("cost", "minutes", "sources"),
    [(4, 1, ["", "api"]), (5, 1, [""]), (4, 11, [""])],
    ids=["ours", "not its cost", "too long ago"],
)
def test_it_is_asked_for_once_with_each_reading_and_not_for_ever(
    account: Account,
    scripted_ledger: ScriptedLedger,
    make_confirmed_charge: MakeConfirmedCharge,
    cost: int,
    minutes: int,
    sources: list[str],
) -> None:
    answered = timezone.now() - timedelta(minutes=minutes)
    make_confirmed_charge(cost, sent_at=answered - timedelta(seconds=2), settled_at=answered)
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 60 * minutes + 1))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    assert [source for _, source in scripted_ledger.pages] == sources * 2
    assert told() == [True, False]


def test_a_charge_of_before_a_clock_was_put_back_has_it_asked_for_nothing(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Its settling lies ahead now, for as long as the clock was wrong."""
    now = timezone.now()
    make_confirmed_charge(
        4, sent_at=now - timedelta(seconds=42), settled_at=now + timedelta(hours=1)
    )
    scripted_ledger.add_row(ledger_row(-1, 1), fresh(-4, 41))
    scripted_ledger.view = scripted_ledger.rows[:1]
    ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert (told(), [source for _, source in scripted_ledger.pages]) == ([True, False], [""])


def test_what_it_passed_over_is_not_asked_for_again(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    now = timezone.now()
    make_confirmed_charge(
        4, sent_at=now - timedelta(seconds=42), settled_at=now - timedelta(seconds=40)
    )
    scripted_ledger.add_row(ledger_row(-1, 1))
    scripted_ledger.add_row(fresh(-4, 41), web=True)
    scripted_ledger.add_row(fresh(-5, 8))
    ledger.mirror_entries(account)
    scripted_ledger.pages.clear()
    ledger.mirror_entries(account)
    assert (told(), [source for _, source in scripted_ledger.pages]) == ([True, False, True], [""])
