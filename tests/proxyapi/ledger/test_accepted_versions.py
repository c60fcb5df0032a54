"""Once the service's version of rows was taken, balance, view and matches are of these rows."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import recheck_old_pages, reconciliation, sync_schedule
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import StaleData
from tests.factories import UserFactory
from tests.proxyapi.ledger.conftest import MakeConfirmedCharge, ScriptedLedger, ledger_row


def balance_difference(account: Account) -> Decimal:
    """The difference between the balance and the rows, at a checkpoint taken now."""
    assert ledger.take_checkpoint(account)
    return reconciliation.balance_difference(LedgerMirror.objects.get())


def accept_upstream_rows(account: Account) -> None:
    """The patrol goes through all pages, and somebody takes what it finds."""
    for _ in range(4):
        long_ago = timezone.now() - recheck_old_pages.RECHECK_INTERVAL
        LedgerMirror.objects.filter(pk=account.pk).update(rechecked_at=long_ago)
        ledger.mirror_entries(account)
        ledger.accept_all_upstream_versions(
            account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
        )
    assert ledger.mirror_entries(account)


@pytest.fixture
def checkpointed_account(account: Account, scripted_ledger: ScriptedLedger) -> ScriptedLedger:
    """Ten rows and a checkpoint; then 5,000 cr without a row, and two more rows."""
    scripted_ledger.add_row(*[ledger_row(-number - 1, number) for number in range(10)])
    assert ledger.mirror_entries(account)
    assert balance_difference(account) == 0
    scripted_ledger.balance += 5000
    scripted_ledger.add_row(ledger_row("-20", 20), ledger_row("-30", 21))
    scripted_ledger.balance -= 50
    assert balance_difference(account) == 5000
    return scripted_ledger


@pytest.mark.parametrize(
    ("place", "is_given_back"), [(0, True), (9, False), (10, True), (11, False)]
)
def test_what_balance_and_rows_differed_by_outlives_a_row_that_is_gone(
    account: Account, checkpointed_account: ScriptedLedger, place: int, is_given_back: bool
) -> None:
    """With what the row took, where the balance does not know of it."""
    gone = Decimal(checkpointed_account.rows.pop(place)["credit_spend"])
    checkpointed_account.balance -= gone if is_given_back else 0
    accept_upstream_rows(account)
    assert balance_difference(account) == 5000 + (0 if is_given_back else gone)


def test_what_a_changed_row_takes_more_is_a_difference(
    account: Account, checkpointed_account: ScriptedLedger
) -> None:
    checkpointed_account.rows[2] = ledger_row("-40", 2)
    accept_upstream_rows(account)
    assert balance_difference(account) == 5000 + 37


def test_no_difference_is_accepted_before_a_new_checkpoint(
    account: Account, checkpointed_account: ScriptedLedger
) -> None:
    """Else the rows' new difference would go with the one that was seen."""
    checkpointed_account.rows[11] = ledger_row("-66", 21)
    ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    with pytest.raises(StaleData):
        ledger.rebase_balance(account, Decimal(5000), UserFactory().pk, "The plan renewed.")
    assert balance_difference(account) == 5036


def test_an_attribution_does_not_stay_at_a_position_that_has_another_row_now(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row("-7", 0), web=True)
    scripted_ledger.add_row(ledger_row("-96", 1))
    scripted_ledger.add_row(ledger_row("-60", 2), ledger_row("-5", 3), web=True)
    scripted_ledger.add_row(ledger_row("-8", 4))
    ledger.sync_account(account.pk)
    assert told() == [False, True, False, False, True]
    del scripted_ledger.rows[0]
    scripted_ledger.web = {1, 2}
    ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    assert LedgerMirror.objects.get().rollup_time_zone == "", (
        "the sums of what was told are counted anew"
    )
    accept_upstream_rows(account)
    ledger.sync_account(account.pk)
    ledger.sync_account(account.pk)
    assert told() == [True, False, False, True]


def told() -> list[bool | None]:
    return list(LedgerEntry.objects.order_by("position").values_list("via_api", flat=True))


def test_a_row_that_was_only_renamed_keeps_its_charge(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    charge = make_confirmed_charge("96", 1)
    scripted_ledger.add_row(ledger_row("-96", 1), ledger_row("-4", 2))
    ledger.mirror_entries(account)
    ledger.match_entries(account)
    assert LedgerEntry.objects.get(position=0).charge == charge
    scripted_ledger.rows[0] = {**scripted_ledger.rows[0], "label": "Render of a film"}
    accept_upstream_rows(account)
    entry = LedgerEntry.objects.get(position=0)
    assert (entry.label, entry.charge) == ("Render of a film", charge)
    assert Charge.objects.get().booked_at is not None


@pytest.mark.parametrize(("hours", "lane"), [(0.5, "LEDGER_SYNC"), (1.5, "SETTLEMENT")])
def test_an_account_whose_videos_are_polled_all_day_gets_a_checkpoint_each_hour(
    account: Account,
    scripted_ledger: ScriptedLedger,
    monkeypatch: pytest.MonkeyPatch,
    hours: float,
    lane: str,
) -> None:
    scripted_ledger.add_row(ledger_row("-4", 1))
    ledger.sync_account(account.pk)
    LedgerMirror.objects.update(
        checkpoint_at=timezone.now() - timedelta(hours=hours), checkpoint_high=0
    )
    lanes: list[str] = []
    monkeypatch.setattr(
        sync_schedule,
        "take_checkpoint",
        lambda _, lane=Priority.LEDGER_SYNC: lanes.append(lane.name),
    )
    for _ in range(2):
        LedgerMirror.objects.update(due_at=None)
        ledger.sync_account(account.pk)
    assert lanes == [lane, "LEDGER_SYNC"], "what told nothing is not repeated before the looks"
