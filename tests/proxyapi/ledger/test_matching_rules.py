"""The rules alone, without a database: what fits several is given to none of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from proxyapi.ledger.matching_rules import (
    MatchCandidate,
    match_exact_amounts,
    match_outside_window,
)
from proxyapi.models import Charge, LedgerEntry

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
COST = Decimal(96)
MINUTES_OFF = timedelta(minutes=5)  # outside the charge's own time, inside the search


def candidate() -> MatchCandidate:
    return MatchCandidate(Charge(operation="faceless.render"), COST, NOON, NOON)


def debit(amount: Decimal = -COST) -> LedgerEntry:
    return LedgerEntry(amount=amount, happened_at=NOON + MINUTES_OFF)


@pytest.mark.parametrize(("charges", "debits", "matches"), [(1, 1, 1), (2, 1, 0), (1, 2, 0)])
def test_a_debit_minutes_off_belongs_to_the_only_charge_that_it_fits(
    charges: int, debits: int, matches: int
) -> None:
    candidates = [candidate() for _ in range(charges)]
    rows = [debit() for _ in range(debits)]
    assert len(match_outside_window(candidates, rows)) == matches


def test_another_amount_is_no_match() -> None:
    assert match_outside_window([candidate()], [debit(-COST - 1)]) == []


def test_rule_2_one_debit_is_given_to_one_of_two_equal_charges() -> None:
    row = LedgerEntry(amount=-COST, happened_at=NOON)
    assert len(match_exact_amounts([candidate(), candidate()], [row], {})) == 1
