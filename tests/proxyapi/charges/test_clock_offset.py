"""A clock of ours that was hours off when a charge was sent, and is put right before its answer is
looked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime

import pytest
from django.utils import timezone

from proxyapi import clock_offset
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.ledger import link_entry_to_charge
from proxyapi.models import Charge, ChargeState, LedgerEntry, MatchConfidence
from tests.factories import EntryFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.charges.test_reconcile import LEDGER, Held, debit
from tests.proxyapi.scripted_upstream import ScriptedUpstream, history_page, make_response

RENDER = ("POST", "/faceless/7/render")


@pytest.fixture
def lost_with_wrong_clock(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> Callable[[timedelta], Charge]:
    """A render whose answer was lost while the service's clock was so far ahead of ours; now both
    show the same time, 40 seconds later."""

    def lose(ahead: timedelta) -> Charge:
        draft = make_response(video_response("draft"))
        draft.headers["Date"] = format_datetime(timezone.now() + ahead, usegmt=True)
        upstream.respond("GET", "/faceless/7", draft)
        upstream.respond(*RENDER, make_response({}, 504))
        charge = make_held_charge()
        dispatch_charge(charge.pk)
        sent_at = timezone.now() - ahead - timedelta(seconds=40)
        Charge.objects.filter(pk=charge.pk).update(
            sent_at=sent_at, lost_at=sent_at + timedelta(seconds=30)
        )
        rendering = make_response(video_response("rendering"))
        rendering.headers["Date"] = format_datetime(timezone.now(), usegmt=True)
        upstream.respond("GET", "/faceless/7", rendering)
        return charge

    return lose


@pytest.mark.parametrize("ahead", [timedelta(hours=3), timedelta(hours=-3)])
def test_its_debit_is_found_at_the_services_time(
    ahead: timedelta, lost_with_wrong_clock: Callable[[timedelta], Charge],
    upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Also where it may be free: hours of the clock that did not pass are no time without a
    debit."""
    monkeypatch.setattr("proxyapi.pricing.can_be_free", lambda charge: True)
    charge = lost_with_wrong_clock(ahead)
    upstream.respond(*LEDGER, history_page())
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    upstream.respond(*LEDGER, history_page(debit("-96", 38)))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 96)
    assert LedgerEntry.objects.get().confidence == MatchConfidence.LIKELY


@pytest.mark.parametrize(
    ("ahead_s", "took_s", "offset_s"),
    [(0, 0, 0), (40, 0, 40), (-40, 0, -40), (-90, 120, 0), (200, 120, 200)],
)
def test_only_what_the_length_of_the_call_does_not_explain_is_a_difference(
    ahead_s: int, took_s: int, offset_s: int
) -> None:
    received = timezone.now().replace(microsecond=0)
    served, sent = received + timedelta(seconds=ahead_s), received - timedelta(seconds=took_s)
    clock_offset.learn_clock_offset(served, sent, received)
    assert abs(clock_offset.read_clock_offset().total_seconds() - offset_s) <= 1


@pytest.mark.parametrize(
    ("booked_s", "offset_s"), [(0, 0), (300, 0), (-40, -39), (-3600, -3599), (3600, 2990)]
)
def test_the_times_of_the_ledger_are_compared_with_those_of_an_answered_charge(
    booked_s: int, offset_s: int, make_held_charge: Held
) -> None:
    """A booking within ten minutes after the answer explains itself."""
    sent = timezone.now() - timedelta(seconds=30)
    charge = make_held_charge()
    fields = {"state": ChargeState.CONFIRMED, "cost": 96, "sent_at": sent}
    Charge.objects.filter(pk=charge.pk).update(**fields, settled_at=sent + timedelta(seconds=10))
    charge.refresh_from_db()
    happened = sent + timedelta(seconds=booked_s)
    entry = EntryFactory(account=charge.account, amount=-96, happened_at=happened)
    link_entry_to_charge(entry, charge, MatchConfidence.LIKELY, "Exactly its 96 cr.")
    found = clock_offset.read_clock_offset(clock_offset.ClockSource.LEDGER)
    assert abs(found.total_seconds() - offset_s) <= 1
    since = clock_offset.read_clock_difference_since(clock_offset.ClockSource.LEDGER)
    assert bool(since) == (abs(offset_s) > 30)
