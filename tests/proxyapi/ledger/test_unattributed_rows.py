"""A charge waits for its debit while rows of its time are not read or not attributed."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi import ledger
from proxyapi.ledger import lost_charge_lookup, matching
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from tests.proxyapi.ledger.conftest import (
    HISTORY,
    LEDGER_START,
    MakeConfirmedCharge,
    ScriptedLedger,
    ledger_row,
    make_lost_retry,
    make_mirrored_row,
    mark_read_to,
    matched_positions,
)
from tests.proxyapi.scripted_upstream import ScriptedUpstream
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.postgresql

LATER = 1 + 10 / 60  # minutes: ten seconds after a charge of the first minute


def test_the_row_in_its_time_may_stand_on_an_older_page(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4, minute=1)
    scripted_ledger.add_row(
        *[ledger_row(-5)] * 45, ledger_row(-4, 1), *[ledger_row(-5, 1)] * 13, ledger_row(-4, LATER)
    )
    ledger.mirror_entries(account)
    assert matched_positions() == [(45, "likely")]


def test_the_row_in_its_time_may_not_be_attributed_to_the_api_yet(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """The view's newest page begins at another row than the ledger's."""
    make_confirmed_charge(4, minute=1)
    scripted_ledger.add_row(*[ledger_row(-5)] * 41)
    scripted_ledger.add_row(*[ledger_row(-5)] * 9, web=True)
    scripted_ledger.add_row(ledger_row(-4, 1), *[ledger_row(-5, 1)] * 8, ledger_row(-4, LATER))
    ledger.mirror_entries(account)
    assert matched_positions() == [(50, "likely")]


def test_where_the_view_cannot_be_had_nothing_waits_for_it(
    account: Account, scripted_ledger: ScriptedLedger, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4, minute=1)
    scripted_ledger.add_row(ledger_row(-4, 1))
    scripted_ledger.view = [ledger_row(-9)]
    ledger.mirror_entries(account)
    assert LedgerMirror.objects.get(pk=account.pk).api_problem
    assert matched_positions() == [(0, "certain")]


def test_an_equal_unattributed_row_keeps_the_next_one_for_it(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Neither the charge nor one whose answer got lost takes what may be either's."""
    known, lost = make_confirmed_charge(4, minute=1), make_lost_retry(make_confirmed_charge)
    mark_read_to(account, LEDGER_START + timedelta(hours=1))
    dark, near = (
        make_mirrored_row(account, 0, seconds=61, via_api=None),
        make_mirrored_row(account, 1, seconds=70),
    )
    assert matching.match_entries(account) == {near.pk}
    assert lost_charge_lookup.find_proving_debit(lost, matching.match_entries(account)) is None
    assert lost_charge_lookup.has_possible_debit(lost)
    LedgerEntry.objects.filter(pk=dark.pk).update(via_api=True)
    assert matching.match_entries(account) == set()
    assert LedgerEntry.objects.get(charge=known) == dark
    assert lost_charge_lookup.find_proving_debit(lost, matching.match_entries(account)) == near


def test_a_charge_that_was_answered_after_the_reading_waits_for_the_next(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    slow = make_confirmed_charge(4, minute=1, settled_at=LEDGER_START + timedelta(seconds=90))
    mark_read_to(account, LEDGER_START + timedelta(seconds=80))
    outside = make_mirrored_row(account, 0, seconds=65)
    assert matching.match_entries(account) == {outside.pk}
    own = make_mirrored_row(account, 1, seconds=89)
    mark_read_to(account, timezone.now())
    matching.match_entries(account)
    assert LedgerEntry.objects.get(charge=slow) == own


def test_a_slow_call_keeps_no_row_from_a_charge_that_ended_before(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    """Nor does that charge take a row from before its time meanwhile."""
    first = make_confirmed_charge(4, minute=1)
    make_confirmed_charge(
        4,
        sent_at=LEDGER_START + timedelta(seconds=62),
        settled_at=LEDGER_START + timedelta(seconds=200),
    )
    make_mirrored_row(account, 0, seconds=-200)
    own = make_mirrored_row(account, 1, seconds=63)
    mark_read_to(account, LEDGER_START + timedelta(seconds=199))
    matching.match_entries(account)
    make_mirrored_row(account, 2, seconds=199)
    mark_read_to(account, LEDGER_START + timedelta(hours=1))
    matching.match_entries(account)
    assert LedgerEntry.objects.get(charge=first) == own


def test_while_it_waits_it_is_no_difference(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(4, minute=1)
    mark_read_to(account, LEDGER_START + timedelta(hours=1))
    make_mirrored_row(account, 0, seconds=61, via_api=None)
    make_mirrored_row(account, 1, seconds=70)
    matching.match_entries(account)
    assert build_reconciliation(account).differences == []
    LedgerEntry.objects.all().delete()
    assert len(build_reconciliation(account).differences) == 1


def test_a_service_without_the_view_holds_nothing_up(
    account: Account,
    scripted_ledger: ScriptedLedger,
    upstream: ScriptedUpstream,
    make_confirmed_charge: MakeConfirmedCharge,
) -> None:
    make_confirmed_charge(4, minute=1)
    scripted_ledger.add_row(ledger_row(-9), ledger_row(-4, 1))

    def history(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("source"):
            return httpx.Response(422, json={"error": {"code": "INVALID", "message": "source"}})
        return scripted_ledger.history_response(request)

    upstream.respond(*HISTORY, history)
    assert ledger.mirror_entries(account)
    assert matched_positions() == [(1, "certain")]
    assert "does not provide its list" in LedgerMirror.objects.get(pk=account.pk).api_problem


def test_many_charges_that_wait_cost_few_queries(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    for number in range(20):
        make_confirmed_charge(4, minute=1 + number / 30)
        make_mirrored_row(account, 5 + number, seconds=60 + 2 * number)
    LedgerMirror.objects.update_or_create(
        account=account, defaults={"read_at": LEDGER_START, "low": 5, "high": 25}
    )
    with CaptureQueriesContext(connection) as asked:
        assert len(matching.match_entries(account)) == 20
    assert len(asked) <= 14


def test_only_the_times_of_the_charges_are_checked_and_not_what_lies_between(
    account: Account, make_confirmed_charge: MakeConfirmedCharge
) -> None:
    make_confirmed_charge(7, minute=0)
    make_confirmed_charge(4, minute=60 * 24)
    between = make_mirrored_row(account, 0, seconds=60 * 60, amount=-7)
    near = make_mirrored_row(account, 1, seconds=60 * 60 * 24, amount=-9)
    mark_read_to(account, LEDGER_START)
    claims = matching.load_match_candidates(LedgerMirror.objects.get(pk=account.pk))
    assert list(matching.unmatched_api_debits(LedgerMirror.objects.get(pk=account.pk), claims)) == [
        near
    ]
    assert between.charge is None
