"""Debits on a shared account: whose a row is that fits a charge here and somebody elsewhere."""

from __future__ import annotations

from datetime import timedelta

from proxyapi.ledger.lost_charge_lookup import find_late_debit
from proxyapi.ledger.matching import link_entry_to_charge
from proxyapi.models import Account, ChargeState, LedgerEntry, MatchConfidence
from proxyapi.models.ledger_entry import is_charged_by_another_team
from tests.factories import ChargeFactory, create_account_of_another_team
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    make_lost_retry,
    make_mirrored_row,
    mark_read_to,
)

DAY_S = 86_400


def test_a_debit_beside_a_refusal_is_left_to_who_else_spends_on_the_account(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    refused = make_lost_retry(
        make_confirmed_charge,
        state=ChargeState.REFUSED,
        settled_at=LEDGER_START + timedelta(seconds=67),
    )
    mark_read_to(account, LEDGER_START + timedelta(hours=1))
    debit = make_mirrored_row(account, 1, seconds=68)
    assert find_late_debit(refused, is_done=False) == debit
    make_mirrored_row(account, 0, seconds=-DAY_S)
    assert find_late_debit(refused, is_done=False) is None


def test_of_two_equal_rows_as_many_are_another_teams_as_it_has_charges_for(
    account: Account,
) -> None:
    other = create_account_of_another_team(account)
    for position in (0, 1):
        make_mirrored_row(account, position, seconds=68)
        theirs = make_mirrored_row(other, position, seconds=68)
    charge = ChargeFactory.create(job__account=other)
    link_entry_to_charge(theirs, charge, MatchConfidence.LIKELY, "It is the newest one.")
    rows = LedgerEntry.objects.filter(account=account).order_by("position")
    is_theirs = rows.annotate(is_theirs=is_charged_by_another_team())
    assert list(is_theirs.values_list("is_theirs", flat=True)) == [True, False]
