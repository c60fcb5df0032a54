"""A lost charge is settled only by what is known: rows that another worker hid meanwhile, that are
not told yet, or that are kept for another charge, neither prove it nor clear it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi.charges.reconcile import decide_charge
from proxyapi.ledger import api_view_alignment, lost_charge_lookup, matching, mirror_range
from proxyapi.ledger.lost_charge_lookup import LOOKUP_MARGIN, MirrorCoverage
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    make_lost_retry,
    make_mirrored_row,
    mark_read_to,
)

pytestmark = pytest.mark.postgresql

HOUR = timedelta(hours=1)


def seen(charge: Charge) -> MirrorCoverage:
    """As its reading left it, before anybody else came."""
    ledger, since = (
        mirror_range.get_or_create_ledger(charge.account),
        lost_charge_lookup.charge_sent_at(charge) - LOOKUP_MARGIN,
    )
    sight = MirrorCoverage(
        timezone.now(), lost_charge_lookup.is_charge_period_covered(ledger, charge, since)
    )
    assert sight.is_complete
    return sight


def test_a_view_that_is_restarted_between_reading_and_deciding_clears_nothing(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    make_mirrored_row(account, 0, seconds=68)
    LedgerMirror.objects.filter(pk=account.pk).update(
        api_problem=api_view_alignment.API_VIEW_MISMATCH
    )
    sight = seen(lost)
    api_view_alignment.restart_alignment(account)
    decide_charge(lost, False, {}, sight)
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN


def test_a_conflict_found_between_reading_and_deciding_clears_nothing(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    make_mirrored_row(account, 0, seconds=68)
    sight = seen(lost)
    LedgerMirror.objects.filter(pk=account.pk).update(problem="Row 0 reads differently.")
    assert lost_charge_lookup.has_possible_debit(lost)
    decide_charge(lost, False, {}, sight)
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN


def test_a_debit_that_is_kept_for_another_charge_is_no_free_use(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    searched = {"operation": "ideas.discover"}
    make_confirmed_charge(
        15, minute=1, settled_at=LEDGER_START + timedelta(seconds=170), **searched
    )
    lost = make_lost_retry(
        make_confirmed_charge,
        hold=Decimal(15),
        quote=Decimal(15),
        applied_at=LEDGER_START,
        **searched,
    )
    mark_read_to(account, LEDGER_START + timedelta(seconds=169))
    make_mirrored_row(account, 0, seconds=100, amount=-15)
    decide_charge(lost, True, {}, seen(lost))
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN


def test_a_debit_by_a_clock_that_is_behind_ours_is_no_free_use(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    fields = {"operation": "ideas.discover", "hold": Decimal(15), "quote": Decimal(15)}
    lost = make_lost_retry(make_confirmed_charge, applied_at=LEDGER_START, **fields)
    mark_read_to(account, LEDGER_START + HOUR)
    make_mirrored_row(account, 0, seconds=56, amount=-15)
    decide_charge(lost, True, {}, seen(lost))
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN


def test_it_takes_no_debit_while_an_equal_one_is_unattributed(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    own, other = (
        make_mirrored_row(account, 0, seconds=67, via_api=None),
        make_mirrored_row(account, 1, seconds=75),
    )
    decide_charge(lost, False, {}, MirrorCoverage(timezone.now(), is_complete=False))
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN
    LedgerEntry.objects.filter(pk=own.pk).update(via_api=True)
    decide_charge(lost, False, {}, seen(lost))
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.charge, other.charge) == (lost, None)


@pytest.mark.parametrize("told", [True, False])
def test_a_debit_minutes_off_is_kept_for_its_charge_while_any_row_near_it_is_unattributed(
    told: bool, account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4, minute=1)
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    make_mirrored_row(account, 0, seconds=240)
    make_mirrored_row(account, 1, seconds=300, amount=-5, via_api=told or None)
    assert lost_charge_lookup.find_proving_debit(lost, matching.match_entries(account)) is None
    assert LedgerEntry.objects.filter(charge__isnull=False).exists() is told


def test_nothing_is_called_uncharged_while_the_mirror_is_stopped(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    assert not lost_charge_lookup.has_possible_debit(lost)
    LedgerMirror.objects.filter(pk=account.pk).update(problem="Row 0 reads differently now.")
    assert lost_charge_lookup.has_possible_debit(lost)


def test_a_debit_alone_proves_only_what_its_resource_cannot_prove(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    debit = make_mirrored_row(account, 0, seconds=68, via_api=True)
    assert lost_charge_lookup.find_proving_debit(lost, ()) == debit
    lost.before = {**lost.before, "by_ledger": False}
    assert lost_charge_lookup.find_proving_debit(lost, ()) is None


def test_a_row_of_the_time_may_be_the_debit_until_it_is_known_not_to_be_of_the_api(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + HOUR)
    make_mirrored_row(account, 0, seconds=68, via_api=None)
    assert lost_charge_lookup.has_possible_debit(lost)
    LedgerEntry.objects.update(via_api=False)
    assert not lost_charge_lookup.has_possible_debit(lost)
