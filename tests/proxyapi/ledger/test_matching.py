"""Debits find the charges that made them, with a confidence and a reason; outsiders find none."""

from __future__ import annotations

from datetime import timedelta

from proxyapi import ledger
from proxyapi.models import Account, DailyBreakdown, LedgerEntry, LedgerMirror
from tests.factories import UserFactory
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    ScriptedLedger,
    ledger_row,
    matched_positions,
)
from tests.reconciliation import build_reconciliation


def test_an_exact_debit_in_time_is_certain(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    charge = make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4), ledger_row(-5))
    ledger.mirror_entries(account)
    entry = LedgerEntry.objects.get(position=0)
    assert (entry.charge_id, entry.confidence) == (charge.pk, "certain")
    assert entry.reason == "Exactly its 4 cr, in its time window; nothing else matches."
    assert (entry.member_id, entry.job_id, entry.operation) == (
        charge.member_id, charge.job_id, "faceless.scripts",
    )  # fmt: skip
    assert LedgerEntry.objects.get(position=1).charge_id is None


def test_the_sums_of_the_day_know_the_match(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    charge = make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.mirror_entries(account)
    row = DailyBreakdown.objects.get()
    assert (row.is_matched, row.member_id) == (True, charge.member_id)


def test_rule_2_one_debit_never_settles_two_charges(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4)
    make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "likely")]


def test_pitfall_62_twins_have_a_charge_each_and_say_that_they_are_twins(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    charges = {make_confirmed_charge(4).pk for _ in range(3)}
    scripted_ledger.add_row(*[ledger_row(-4) for _ in range(5)])
    ledger.mirror_entries(account)
    assert [sure for _, sure in matched_positions()] == ["likely"] * 3
    assert set(LedgerEntry.objects.values_list("charge", flat=True)) == {*charges, None}
    assert "5 equal debits and 3 equal charges" in LedgerEntry.objects.get(position=4).reason


def test_a_charge_takes_the_debit_of_its_own_time_before_an_outsiders(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4, minute=1)
    scripted_ledger.add_row(
        ledger_row(-4, minute=0.95), ledger_row(-4, minute=1.02), ledger_row(-4, minute=2)
    )
    ledger.mirror_entries(account)
    assert matched_positions() == [(1, "likely")]


def test_as_many_as_possible_find_theirs(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    slow = timedelta(seconds=60)
    make_confirmed_charge(4, minute=0, settled_at=LEDGER_START + slow)
    make_confirmed_charge(4, minute=0.5)
    scripted_ledger.add_row(ledger_row(-4, minute=0.5), ledger_row(-4, minute=0.9))
    ledger.mirror_entries(account)
    assert len(matched_positions()) == 2


def test_web_spend_is_never_a_charges(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4), web=True)
    ledger.mirror_entries(account)
    assert matched_positions() == []


def test_a_label_that_its_kind_never_has_comes_last(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """pitfall_67: what is certain about an operation helps to distinguish it from others."""
    make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.mirror_entries(account)
    make_confirmed_charge(4, minute=60)
    scripted_ledger.add_row(ledger_row(-4, 60, content_type="idea"), ledger_row(-4, 60.02))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain"), (2, "likely")]


def test_a_debit_far_off_its_time_is_taken_when_it_stands_alone(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(96)
    scripted_ledger.add_row(ledger_row(-96, minute=-6), ledger_row(-4, minute=1))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "likely")]
    assert "outside its time window" in LedgerEntry.objects.get(position=0).reason


def test_a_cost_that_differs_from_its_debit_is_flagged(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    charge = make_confirmed_charge(94)
    scripted_ledger.add_row(ledger_row(-96))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "weak")]
    found = [one for one in build_reconciliation(account).differences if one.charge == charge]
    assert [(one.kind, one.amount) for one in found] == [("other cost", 2)]


def test_a_charge_without_any_debit_is_reported(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(94)
    scripted_ledger.add_row(ledger_row(-7))
    ledger.mirror_entries(account)
    assert [one.amount for one in build_reconciliation(account).differences] == [94]


def test_a_weak_match_waits_until_nothing_better_can_come(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """The debit of a charge of just now may still be booked."""
    now = LedgerMirror(account=account).read_at
    assert now is None
    from django.utils import timezone

    sent_at = timezone.now() - timedelta(seconds=20)
    make_confirmed_charge(94, sent_at=sent_at, settled_at=sent_at)
    scripted_ledger.add_row(ledger_row(-96, created_at=sent_at.isoformat()))
    ledger.mirror_entries(account)
    assert matched_positions() == []


def test_pitfall_45_a_refund_is_counted_once_when_the_ledger_shows_it(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    charge = make_owed_clip(30)
    scripted_ledger.add_row(ledger_row(-30))
    ledger.mirror_entries(account)
    assert [one.pk for one in build_reconciliation(account).refunds_owed] == [charge.pk]
    scripted_ledger.add_row(ledger_row(30, minute=5, transaction_type="Refund"))
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert charge.refunded_at == LEDGER_START + timedelta(minutes=5)
    assert matched_positions() == [(0, "certain"), (1, "certain")]
    kept = build_reconciliation(account)
    assert (kept.refunds_owed, kept.refunded, kept.matched) == ([], 30, 30)


def test_a_top_up_of_the_same_amount_is_no_refund(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    make_owed_clip(100)
    scripted_ledger.add_row(
        ledger_row(-100), ledger_row(100, minute=5, content_type="top-up", label="Top-up")
    )
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain")]


def test_a_refund_before_the_debit_is_somebody_elses(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    make_owed_clip(30)
    scripted_ledger.add_row(ledger_row(30, minute=0, transaction_type="Refund"), ledger_row(-30))
    ledger.mirror_entries(account)
    assert matched_positions() == [(1, "certain")]


def test_two_refunds_of_one_amount_go_to_two_charges(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    make_owed_clip(30, minute=0)
    make_owed_clip(30, minute=20)
    scripted_ledger.add_row(ledger_row(-30), ledger_row(-30, minute=20))
    scripted_ledger.add_row(
        *[ledger_row(30, minute=25, transaction_type="Refund") for _ in range(3)]
    )
    ledger.mirror_entries(account)
    assert [sure for _, sure in matched_positions()] == ["certain", "certain", "likely", "likely"]
    assert LedgerEntry.objects.get(position=4).charge_id is None


def test_a_row_that_the_service_rewrote_is_matched_again(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.mirror_entries(account)
    scripted_ledger.rows[0] = ledger_row(-5)
    ledger.mirror_entries(account)
    ledger.accept_all_upstream_versions(
        account, UserFactory().pk, ledger.count_open_conflicts(account).fingerprint
    )
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "weak")]
