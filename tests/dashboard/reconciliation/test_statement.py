"""The two sums of the page are those of the proxy's ledger, and they add up."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.reconciliation.queries.page import load_balance_statement
from tests.factories import JobFactory
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.postgresql


@pytest.fixture
def mixed_entries(add_entry, make_charge, unknown_charge, set_checkpoint, ledger):
    """Some of everything; one row came after the balance was read."""
    add_entry(1000, label="Top-up")
    add_entry(-96, charge=make_charge(96))
    add_entry(Decimal("-12.5"))
    add_entry(-7, job=JobFactory.create(account=ledger.account, origin="import", draft=None))
    refunded = make_charge(98)
    add_entry(-98, charge=refunded)
    add_entry(98, charge=refunded)
    make_charge(14, settled_at=timezone.now() - timedelta(hours=1))
    set_checkpoint(883, opening=0)
    add_entry(-30)
    ledger.refresh_from_db()
    return ledger


def test_it_says_what_the_reconciliation_says(mixed_entries):
    statement, found = (
        load_balance_statement(mixed_entries.account, mixed_entries),
        build_reconciliation(mixed_entries.account),
    )
    assert statement.opening == found.opening_balance
    assert statement.newer == found.newer_entries_sum == -30
    assert statement.received == found.credited
    assert statement.refunded == found.refunded
    assert statement.reported_balance == found.balance_exact
    assert statement.difference == found.difference
    assert statement.matched == found.matched
    assert statement.imported == found.imported == 7
    assert statement.outside == found.outside == Decimal("42.5")
    assert statement.charged == found.charged
    assert statement.unexplained == found.unexplained == 14
    assert statement.at_risk == found.at_risk == 46


def test_what_was_booked_differently_than_reported_is_in_what_the_charges_took(
    mixed_entries, add_entry, make_charge
):
    add_entry(-90, charge=make_charge(96), confidence="weak")
    statement, found = (
        load_balance_statement(mixed_entries.account, mixed_entries),
        build_reconciliation(mixed_entries.account),
    )
    assert statement.charged == found.charged
    assert statement.unexplained == found.unexplained == 20


def test_opening_and_entries_and_the_difference_make_the_balance(mixed_entries):
    statement = load_balance_statement(mixed_entries.account, mixed_entries)
    assert statement.computed_balance == Decimal("884.5")
    assert statement.computed_balance + statement.difference == statement.reported_balance


def test_debits_are_our_charges_and_the_rest(mixed_entries):
    statement = load_balance_statement(mixed_entries.account, mixed_entries)
    explained = statement.matched + statement.imported
    assert explained + statement.outside == statement.spent
    assert statement.charged - statement.matched == statement.unexplained


def test_without_a_balance_checkpoint_there_is_nothing_to_add_up_to(add_entry, ledger):
    add_entry(-96)
    ledger.refresh_from_db()
    statement = load_balance_statement(ledger.account, ledger)
    assert (statement.opening, statement.computed_balance, statement.reported_balance) == (
        None,
        None,
        None,
    )
