"""Balance, ledger and charges compared, to the last credit."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import audit, matching_rules
from proxyapi.ledger.audit import SUM_TABLES
from proxyapi.models import Account, Charge, ChargeState, LedgerMirror, MonthlyPriceCount
from proxyapi.refusals import StaleData
from proxyapi.rollups import price_counts
from tests.factories import ChargeFactory, JobFactory, UserFactory
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    ScriptedLedger,
    ledger_row,
)
from tests.reconciliation import build_reconciliation


def verified(*options: str) -> str:
    out = StringIO()
    call_command("verify_ledger", *options, stdout=out)
    return out.getvalue()


def spend(book: ScriptedLedger, amount: str, web: bool = False) -> None:
    book.add_row(ledger_row(amount, len(book.rows)), web=web)
    book.balance += Decimal(amount)


def test_the_exact_balance_is_that_of_a_position(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """pitfall_52: `remaining` is the balance; what `total` and `extra` are to it is not shown."""
    scripted_ledger.add_row(ledger_row(-4), ledger_row(-5))
    assert ledger.take_checkpoint(account)
    row = LedgerMirror.objects.get()
    assert (row.balance_exact, row.checkpoint_high) == (10_000, 2)
    assert (row.anchor_balance, row.anchor_high) == (10_000, 2)


def test_pitfall_52_a_profile_with_extra_credits_has_the_balance_that_remains(
    account: Account,
) -> None:
    credits = {"remaining": 800, "total": 1200, "extra": 250}
    account.save_profile({"id": 5, "credits": credits}, timezone.now())
    account.refresh_from_db()
    assert account.balance == 800


def test_a_row_that_comes_during_a_checkpoint_invalidates_it(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-4))
    scripted_ledger.before_page = lambda: spend(scripted_ledger, "-1")
    assert not ledger.take_checkpoint(account)
    assert LedgerMirror.objects.get().balance_exact is None


def test_opening_and_rows_are_the_balance(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    for amount in ("-4", "-0.68", "-12.16"):
        spend(scripted_ledger, amount)
    ledger.take_checkpoint(account)
    for amount in ("-96", "500", "-3"):
        spend(scripted_ledger, amount, web=amount == "-3")
    ledger.mirror_entries(account)
    ledger.take_checkpoint(account)
    spend(scripted_ledger, "-7")
    ledger.mirror_entries(account)
    kept = build_reconciliation(account)
    assert (kept.opening_balance, kept.balance_exact) == (10_000, scripted_ledger.balance + 7)
    assert 10_000 + kept.entries_sum == scripted_ledger.balance
    assert (kept.difference, kept.newer_entries_sum, kept.credited) == (0, -7, 500)
    assert kept.outside == Decimal("122.84")
    assert kept.differences == []


def test_a_balance_that_moved_by_itself_is_a_difference(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    ledger.take_checkpoint(account)
    spend(scripted_ledger, "-5")
    scripted_ledger.balance += 100
    ledger.take_checkpoint(account)
    kept = build_reconciliation(account)
    assert kept.difference == 100
    assert [(one.kind, one.amount) for one in kept.differences] == [("balance", 100)]


def test_a_person_may_take_the_present_balance_as_a_new_start(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    ledger.take_checkpoint(account)
    scripted_ledger.balance += 100
    ledger.take_checkpoint(account)
    before = build_reconciliation(account)
    ledger.rebase_balance(account, Decimal(100), UserFactory().pk, "The plan renewed.")
    kept = build_reconciliation(account)
    assert (kept.difference, before.opening_balance, kept.opening_balance) == (0, 10_000, 10_100)
    assert (kept.entries_sum, kept.balance_exact) == (-4, 10_096)
    assert "No differences." in verified()


def test_what_changes_after_the_checkpoint_is_not_accepted_with_it(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    ledger.take_checkpoint(account)
    scripted_ledger.balance += 100
    ledger.take_checkpoint(account)
    scripted_ledger.balance += 7
    ledger.rebase_balance(account, Decimal(100), UserFactory().pk, "The plan renewed.")
    spend(scripted_ledger, "-5")
    ledger.take_checkpoint(account)
    assert build_reconciliation(account).difference == 7


def test_a_difference_that_grew_meanwhile_is_not_let_go(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    ledger.take_checkpoint(account)
    scripted_ledger.balance += 100
    ledger.take_checkpoint(account)
    with pytest.raises(StaleData, match="now 100 cr, not 40 cr"):
        ledger.rebase_balance(account, Decimal(40), UserFactory().pk, "Rounding.")
    assert build_reconciliation(account).difference == 100


def test_what_unknown_charges_hold_is_at_risk(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    job = JobFactory(account=account, token=account.tokens.get(), remote_id="9")
    ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=LEDGER_START, hold=Decimal(106))
    ledger.mirror_entries(account)
    kept = build_reconciliation(account)
    assert kept.at_risk == 106
    assert [one.amount for one in kept.differences] == [106]


def test_books_of_an_account_that_was_never_read(account: Account) -> None:
    kept = build_reconciliation(account)
    assert (kept.opening_balance, kept.balance_exact, kept.entries_sum, kept.differences) == (
        None,
        None,
        0,
        [],
    )


def test_verify_ledger_agrees(account: Account, scripted_ledger: ScriptedLedger) -> None:
    for amount in ("-4", "-0.68", "500"):
        spend(scripted_ledger, amount)
    verified()
    spend(scripted_ledger, "-96", web=True)
    out = verified("--account", str(account.upstream_id))
    assert "No differences." in out
    assert "Δ balance since row 3" in out
    assert "Σ rows after it, up to row 4" in out
    assert out.count("-96") == 3  # what the balance moved by, the rows, and where they belong


def test_verify_ledger_fails_on_a_credit(account: Account, scripted_ledger: ScriptedLedger) -> None:
    spend(scripted_ledger, "-4")
    verified()
    scripted_ledger.balance -= Decimal("0.01")
    with pytest.raises(CommandError) as failed:
        verified()
    assert failed.value.returncode == 1


def test_verify_ledger_waits_for_the_debit_of_a_charge_of_just_now(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Videos are charged while it runs; only what is overdue is missed."""
    spend(scripted_ledger, "-4")
    now = timezone.now()
    charge = make_confirmed_charge(96, sent_at=now - timedelta(minutes=1), settled_at=now)
    price_counts.count_charge(charge)
    assert re.search(r"whose debit is awaited +96\n", verified())
    Charge.objects.update(
        settled_at=now - matching_rules.MATCH_BOOKING_DELAY - timedelta(seconds=1)
    )
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("verify_ledger", stdout=out)
    assert "Charges and their debits do not add up." in out.getvalue()
    assert "no ledger row matches" in out.getvalue()


def test_verify_ledger_checks_twice_before_it_reports_a_difference(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes between two of its questions is in one of the answers only."""
    spend(scripted_ledger, "-4")
    verified()
    look, coming = audit.audit_account, iter([["A row came."]])

    def look_amid_it(account: Account) -> audit.LedgerAudit:
        result = look(account)
        result.problems += next(coming, [])
        return result

    monkeypatch.setattr(audit, "audit_account", look_amid_it)
    assert "No differences." in verified()
    assert next(coming, None) is None


@pytest.mark.usefixtures("small_pages")
def test_verify_ledger_rereads_every_row_on_demand(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    for number in range(24):
        spend(scripted_ledger, f"-{number + 1}")
    verified()
    scripted_ledger.rows[3] = ledger_row("-99", 3)
    verified()
    with pytest.raises(CommandError):
        verified("--reread")
    assert "Row 4" in LedgerMirror.objects.get().problem


def test_verify_ledger_does_not_trust_sums_that_were_kept(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    verified()
    tables: list[type[Model]] = [*SUM_TABLES, MonthlyPriceCount]
    trusted = []
    for table in tables:
        with transaction.atomic():
            if table is MonthlyPriceCount:
                use = {"operation": "faceless.render", "quote": 4, "cost": 4, "times": 1}
                MonthlyPriceCount.objects.create(account=account, month=LEDGER_START, **use)
            else:
                table._default_manager.all().delete()
            with suppress(CommandError):
                verified("--offline")
                trusted.append(table)
            transaction.set_rollback(True)
    assert trusted == []
    verified("--offline")


def test_verify_ledger_of_an_account_that_cannot_be_read(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    spend(scripted_ledger, "-4")
    scripted_ledger.cut_after = 0
    with pytest.raises(CommandError):
        verified()


def test_verify_ledger_knows_no_other_account(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    with pytest.raises(CommandError, match="There is no account 42"):
        verified("--account", "42")
