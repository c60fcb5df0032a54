"""A lost charge and debits that fit it: which one proves it, which keeps it open, which is nothing
of its own. Who is told "never charged" pays again, so the last takes more than the first."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.charges.reconcile import decide_charge
from proxyapi.ledger import lost_charge_lookup, mirror_range
from proxyapi.ledger.lost_charge_lookup import LOOKUP_MARGIN, MirrorCoverage
from proxyapi.ledger.row_parser import UNREADABLE_AMOUNT, UNREADABLE_TIME
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, MatchConfidence
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    make_lost_retry,
    make_mirrored_row,
    mark_read_to,
)

SENT = 66  # seconds after START, as `make_lost_retry` is
GIVEN_UP = 96
MINUTES, HOUR = 10 * 60, 60 * 60
UNKNOWN, MATCHED, REFUSED = ChargeState.UNKNOWN, ChargeState.MATCHED, ChargeState.REFUSED


@pytest.fixture
def unknown_charge(account: Account, make_confirmed_charge: MakeConfirmedCharge) -> Charge:
    """A retry of 4 credits whose line broke; the ledger was read days later."""
    mark_read_to(account, timezone.now())
    return make_lost_retry(
        make_confirmed_charge, lost_at=LEDGER_START + timedelta(seconds=GIVEN_UP)
    )


def decide_lost_charge(lost: Charge, *, done: bool = False) -> str:
    """What becomes of it by what the mirror holds."""
    whole = lost_charge_lookup.is_charge_period_covered(
        mirror_range.get_or_create_ledger(lost.account),
        lost,
        lost_charge_lookup.charge_sent_at(lost) - LOOKUP_MARGIN,
    )
    decide_charge(lost, done, {}, MirrorCoverage(timezone.now(), whole))
    lost.refresh_from_db()
    return lost.state


@pytest.mark.parametrize(
    ("late", "state"),
    [(MINUTES, MATCHED), (MINUTES + 1, UNKNOWN), (HOUR, UNKNOWN), (HOUR + 1, REFUSED)],
)
def test_a_debit_proves_a_retry_for_ten_minutes_and_is_a_trace_of_it_for_an_hour(
    late: int, state: str, account: Account, unknown_charge: Charge
) -> None:
    make_mirrored_row(account, 0, seconds=GIVEN_UP + late)
    assert decide_lost_charge(unknown_charge) == state


@pytest.mark.parametrize(("late", "state"), [(HOUR, MATCHED), (HOUR + 1, UNKNOWN)])
@pytest.mark.parametrize("amount", [-4, -3])
def test_what_is_known_to_be_done_searches_its_debit_for_an_hour(
    late: int, state: str, amount: int, account: Account, unknown_charge: Charge
) -> None:
    make_mirrored_row(account, 0, seconds=GIVEN_UP + late, amount=amount)
    assert decide_lost_charge(unknown_charge, done=True) == state


@pytest.mark.parametrize(
    ("late", "sure"), [(120, MatchConfidence.CERTAIN), (121, MatchConfidence.LIKELY)]
)
def test_a_debit_of_minutes_later_is_not_its_own_for_certain(
    late: int, sure: str, account: Account, unknown_charge: Charge
) -> None:
    make_mirrored_row(account, 0, seconds=GIVEN_UP + late)
    assert decide_lost_charge(unknown_charge) == MATCHED
    assert LedgerEntry.objects.get(charge=unknown_charge).confidence == sure


@pytest.mark.parametrize(("late", "state"), [(HOUR, UNKNOWN), (HOUR + 1, REFUSED)])
@pytest.mark.parametrize("dark", [{"via_api": None}, {"trouble": UNREADABLE_AMOUNT}])
def test_no_row_of_another_time_is_waited_for(
    late: int, state: str, dark: dict[str, Any], account: Account, unknown_charge: Charge
) -> None:
    LedgerEntry.objects.filter(pk=make_mirrored_row(account, 0, seconds=GIVEN_UP + late).pk).update(
        **dark
    )
    assert decide_lost_charge(unknown_charge) == state


def test_a_row_whose_own_time_cannot_be_read_may_be_of_any_time(
    account: Account, unknown_charge: Charge
) -> None:
    strange = make_mirrored_row(account, 0, seconds=GIVEN_UP + 2 * HOUR)
    LedgerEntry.objects.filter(pk=strange.pk).update(
        trouble=f"{UNREADABLE_AMOUNT} {UNREADABLE_TIME}"
    )
    assert decide_lost_charge(unknown_charge) == UNKNOWN


def test_its_debit_does_not_wait_for_a_row_that_is_too_late_to_be_its_own(
    account: Account, unknown_charge: Charge
) -> None:
    make_mirrored_row(account, 0, seconds=SENT + 1)
    make_mirrored_row(account, 1, seconds=GIVEN_UP + MINUTES + 1, via_api=None)
    assert decide_lost_charge(unknown_charge) == MATCHED


@pytest.mark.parametrize(
    ("amount", "state"),
    [(-47, REFUSED), (-48, UNKNOWN), (-60, UNKNOWN), (-212, UNKNOWN), (-213, REFUSED)],
)
def test_a_retry_that_may_have_cost_something_else_is_left_to_a_person(
    amount: int, state: str, account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Its price was 96 cr: half of it, or twice the hold, is somebody else's."""
    mark_read_to(account, timezone.now())
    lost = make_lost_retry(make_confirmed_charge, quote=Decimal(96), hold=Decimal(106))
    make_mirrored_row(account, 0, seconds=SENT + 1, amount=amount)
    assert decide_lost_charge(lost) == state


def test_a_wide_margin_of_the_hold_is_never_left_out(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    lost = make_lost_retry(make_confirmed_charge, quote=Decimal(10), hold=Decimal(18))
    make_mirrored_row(account, 0, seconds=SENT + 1, amount=-3)
    assert lost.can_cost(Decimal(3))
    assert lost_charge_lookup.has_possible_debit(lost)


def make_two_lost_charges(
    confirmed: MakeConfirmedCharge, prices: tuple[int, int], holds: tuple[int, int]
) -> tuple[Charge, Charge]:
    """Two lost retries, sent at the same moment."""
    one, other = (
        make_lost_retry(confirmed, quote=Decimal(price), hold=Decimal(hold))
        for price, hold in zip(prices, holds, strict=True)
    )
    return one, other


def test_what_another_lost_charge_may_have_taken_too_is_neithers(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """The other's price is no cost of this one; the debit may be of both."""
    mark_read_to(account, timezone.now())
    exact, wide = make_two_lost_charges(make_confirmed_charge, prices=(96, 90), holds=(96, 106))
    make_mirrored_row(account, 0, seconds=SENT + 1, amount=-96)
    assert (decide_lost_charge(exact), decide_lost_charge(wide)) == (UNKNOWN, UNKNOWN)


def test_what_another_lost_charge_cannot_have_taken_is_its_own(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """The other's price is a possible cost of this one; the debit is not of the other."""
    mark_read_to(account, timezone.now())
    wide, exact = make_two_lost_charges(make_confirmed_charge, prices=(96, 100), holds=(106, 100))
    own = make_mirrored_row(account, 0, seconds=SENT + 1, amount=-92)
    assert (decide_lost_charge(wide), decide_lost_charge(exact)) == (MATCHED, REFUSED)
    assert LedgerEntry.objects.get(charge=wide) == own


@pytest.mark.parametrize(
    ("other", "state"),
    [
        ({"sent_at": LEDGER_START + timedelta(seconds=70) + LOOKUP_MARGIN}, UNKNOWN),
        ({"sent_at": LEDGER_START + timedelta(seconds=71) + LOOKUP_MARGIN}, MATCHED),
        ({"sent_at": LEDGER_START - timedelta(seconds=HOUR - 70)}, UNKNOWN),
        ({"sent_at": LEDGER_START - timedelta(seconds=HOUR - 69)}, MATCHED),
        ({"sent_at": LEDGER_START - timedelta(days=1), "state": ChargeState.SENDING}, UNKNOWN),
    ],
)
def test_a_lost_charge_of_another_time_has_no_part_in_a_debit(
    other: dict[str, Any], state: str, account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Clocks may be off by minutes. One that is sent yet may be taken until now."""
    mark_read_to(account, timezone.now())
    make_lost_retry(make_confirmed_charge, **other)
    lost = make_lost_retry(make_confirmed_charge)
    make_mirrored_row(account, 0, seconds=70)
    assert decide_lost_charge(lost) == state
