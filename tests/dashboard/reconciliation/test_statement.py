"""The two sums of the page are those of the proxy's books, and they add up."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.queries.reconciliation.statement import statement_of
from proxyapi.ledger import build_reconciliation


@pytest.fixture
def mixed(book, charged, lost, weighed, ledger):
    """Some of everything; one row came after the balance was read."""
    book(1000, label="Top-up")
    book(-96, charge=charged(96))
    book(Decimal("-12.5"))
    refunded = charged(98)
    book(-98, charge=refunded)
    book(98, charge=refunded)
    charged(14, settled_at=timezone.now() - timedelta(hours=1))
    weighed(890, opening=0)
    book(-30)
    ledger.refresh_from_db()
    return ledger


def test_it_says_what_the_books_say(mixed):
    statement, found = statement_of(mixed.account, mixed), build_reconciliation(mixed.account)
    assert statement.opening == found.opening_balance
    assert statement.newer == found.newer_entries_sum == -30
    assert statement.came == found.credited
    assert statement.refunded == found.refunded
    assert statement.shown == found.balance_exact
    assert statement.difference == found.difference
    assert statement.matched == found.matched
    assert statement.outside == found.outside
    assert statement.charged == found.charged
    assert statement.unexplained == found.unexplained == 14
    assert statement.at_risk == found.at_risk == 46


def test_what_was_booked_otherwise_than_told_is_in_what_the_charges_took(mixed, book, charged):
    book(-90, charge=charged(96), confidence="weak")
    statement, found = statement_of(mixed.account, mixed), build_reconciliation(mixed.account)
    assert statement.charged == found.charged
    assert statement.unexplained == found.unexplained == 20


def test_opening_and_entries_and_the_difference_make_the_balance(mixed):
    statement = statement_of(mixed.account, mixed)
    assert statement.adds_up_to == Decimal("891.5")
    assert statement.adds_up_to + statement.difference == statement.shown


def test_debits_are_our_charges_and_the_rest(mixed):
    statement = statement_of(mixed.account, mixed)
    assert statement.matched + statement.outside == statement.spent
    assert statement.charged - statement.matched == statement.unexplained


def test_without_a_weighing_there_is_nothing_to_add_up_to(book, ledger):
    book(-96)
    ledger.refresh_from_db()
    statement = statement_of(ledger.account, ledger)
    assert (statement.opening, statement.adds_up_to, statement.shown) == (None, None, None)
