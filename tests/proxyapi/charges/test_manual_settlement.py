"""What reading cannot settle a person ends: the hold is free, or a debit is said to be its own."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi.charges import settle_with_entry, write_off_charge
from proxyapi.models import Charge, ChargeState, DailyBreakdown, LedgerEntry, MatchConfidence
from proxyapi.refusals import StaleData
from tests.factories import AccountFactory, UserFactory

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]


@pytest.fixture
def unknown_charge(make_held_charge: Held) -> Charge:
    charge = make_held_charge()
    Charge.objects.filter(pk=charge.pk).update(state=ChargeState.UNKNOWN, sent_at=timezone.now())
    charge.refresh_from_db()
    return charge


def entry(of: Charge, amount: int = -94, **fields: Any) -> LedgerEntry:
    row = {"account": of.account, "position": LedgerEntry.objects.count(), **fields}
    return LedgerEntry.objects.create(
        credit_spend=str(amount), amount=Decimal(amount), happened_at=timezone.now(), **row
    )


def test_writing_off_frees_the_hold_and_keeps_who_and_why(unknown_charge: Charge) -> None:
    thea = UserFactory()
    charge = write_off_charge(
        unknown_charge, thea.pk, "The service confirmed that nothing was taken."
    )
    assert (charge.state, charge.decided_by) == (ChargeState.WRITTEN_OFF, thea)
    assert charge.reason.startswith("The service confirmed")
    assert charge.account.held_credits() == 0
    assert charge.settled_at


def test_only_an_unknown_charge_is_written_off(make_held_charge: Held) -> None:
    with pytest.raises(StaleData):
        write_off_charge(make_held_charge(), UserFactory().pk, "no")


def test_a_debit_that_is_gone_by_now_settles_nothing(unknown_charge: Charge) -> None:
    row = entry(unknown_charge)
    LedgerEntry.objects.all().delete()
    with pytest.raises(StaleData, match="has changed or is already matched"):
        settle_with_entry(unknown_charge, row, UserFactory().pk)
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.UNKNOWN


def test_a_claimed_debit_settles_the_charge_at_its_amount(unknown_charge: Charge) -> None:
    row, thea = entry(unknown_charge), UserFactory()
    charge = settle_with_entry(unknown_charge, row, thea.pk)
    row.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 94)
    assert (charge.decided_by, charge.booked_at) == (thea, row.happened_at)
    assert (row.charge, row.confidence) == (charge, MatchConfidence.CERTAIN)
    assert (row.member, row.operation) == (charge.member, "faceless.render")
    assert DailyBreakdown.objects.get().is_matched
    assert charge.account.held_credits() == 0


def test_a_debit_belongs_to_one_charge(unknown_charge: Charge) -> None:
    row = entry(unknown_charge, charge=unknown_charge, confidence=MatchConfidence.LIKELY)
    with pytest.raises(StaleData, match="has changed or is already matched"):
        settle_with_entry(unknown_charge, row, UserFactory().pk)
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.UNKNOWN


def test_a_credit_or_another_accounts_row_is_nobodys_debit(unknown_charge: Charge) -> None:
    with pytest.raises(ValueError, match="debit"):
        settle_with_entry(unknown_charge, entry(unknown_charge, amount=94), UserFactory().pk)
    elsewhere = entry(unknown_charge, account=AccountFactory())
    with pytest.raises(ValueError, match="own account"):
        settle_with_entry(unknown_charge, elsewhere, UserFactory().pk)


def test_what_was_settled_meanwhile_is_not_written_off(unknown_charge: Charge) -> None:
    Charge.objects.filter(pk=unknown_charge.pk).update(state=ChargeState.MATCHED, cost=94)
    with pytest.raises(StaleData, match="already resolved"):
        write_off_charge(unknown_charge, UserFactory().pk, "no")


@pytest.mark.parametrize("by_entry", [True, False])
def test_the_job_is_locked_before_its_charge_is_changed(
    unknown_charge: Charge, by_entry: bool
) -> None:
    """As everybody does, or two wait for each other."""
    row, member = entry(unknown_charge), UserFactory()
    with CaptureQueriesContext(connection) as asked:
        if by_entry:
            settle_with_entry(unknown_charge, row, member.pk)
        else:
            write_off_charge(
                unknown_charge, member.pk, "The service confirmed that nothing was taken."
            )
    said = [query["sql"] for query in asked]
    changed = next(at for at, sql in enumerate(said) if sql.startswith('UPDATE "proxyapi_charge"'))
    assert any('FROM "proxyapi_job"' in sql for sql in said[:changed])
