"""A charge that breaks whoever handles it is parked after five times; a dead sender is found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import (
    dispatch_charge,
    evidence,
    heartbeat,
    reconcile_charge,
    reconcile_now,
    timeouts,
)
from proxyapi.charges.quarantine import QUARANTINED, count_charge_crash
from proxyapi.models import Charge, ChargeState
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")


@pytest.fixture
def poison_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a row that nobody foresaw")

    monkeypatch.setattr(evidence, "fetch_evidence", broken)
    monkeypatch.setattr(evidence, "snapshot", broken)


def handled(charge: Charge, handle: Callable[[Any], None], times: int) -> Charge:
    for _ in range(times):
        with pytest.raises(RuntimeError):
            handle(charge.pk)
    charge.refresh_from_db()
    return charge


def test_an_unsent_poison_charge_is_given_up_after_five_times(
    poison_handler: None, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = handled(make_held_charge(), dispatch_charge, 4)
    assert (charge.state, charge.failures) == (ChargeState.HELD, 4)
    handled(charge, dispatch_charge, 1)
    assert (charge.state, charge.code) == (ChargeState.REFUSED, QUARANTINED)
    assert charge.reason.endswith("Nothing was sent.")
    assert charge.account.held_credits() == 0


def test_a_poison_charge_that_cannot_be_given_up_just_now_is_taken_up_again(
    poison_handler: None,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted for the fifth time and still held, nobody would come back to it."""

    def away(*_: object, **__: object) -> None:
        raise RuntimeError("the database went away")

    charge = handled(make_held_charge(), dispatch_charge, 4)
    with monkeypatch.context() as patch:
        patch.setattr(type(Charge.objects), "transition", away)
        handled(charge, dispatch_charge, 1)
    assert (charge.state, charge.failures) == (ChargeState.HELD, 4)
    assert Charge.objects.due(charge.due_at).get() == charge
    assert handled(charge, dispatch_charge, 1).state == ChargeState.REFUSED


def test_an_unknown_poison_charge_is_quarantined_and_keeps_its_hold(
    poison_handler: None, make_held_charge: Held
) -> None:
    charge = make_held_charge()
    long_ago = timezone.now() - timedelta(minutes=5)
    Charge.objects.update(state=ChargeState.UNKNOWN, sent_at=long_ago, due_at=long_ago)
    handled(charge, reconcile_charge, 5)
    assert (charge.state, charge.code) == (ChargeState.UNKNOWN, QUARANTINED)
    assert charge.account.held_credits() == 106
    assert not Charge.objects.due(timezone.now()).exists()
    assert reconcile_now(charge)
    charge.refresh_from_db()
    assert (charge.failures, charge.code, charge.reason) == (0, "", "")
    assert Charge.objects.due(timezone.now()).get() == charge


def test_what_is_quarantined_while_sending_may_be_charged_until_its_timeout(
    poison_handler: None, make_held_charge: Held
) -> None:
    """Looked at sooner, it would be called never charged, and be paid again."""
    charge, now = make_held_charge("faceless.scripts"), timezone.now()
    Charge.objects.update(state=ChargeState.SENDING, sent_at=now, heartbeat_at=now)
    for _ in range(5):
        count_charge_crash(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.code) == (ChargeState.UNKNOWN, QUARANTINED)
    assert charge.lost_at == timeouts.latest_completion(charge) > now + timedelta(seconds=30)


def test_a_crash_that_passes_is_forgotten(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    Charge.objects.update(failures=4)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.failures) == (ChargeState.CONFIRMED, 0)


def test_a_dead_worker_is_found_by_its_missing_heartbeat(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """Seconds after the last sign, however long the operation may take."""
    charge = make_held_charge()
    quiet = timezone.now() - timedelta(seconds=16)
    Charge.objects.update(state=ChargeState.SENDING, sent_at=quiet, heartbeat_at=quiet)
    upstream.respond("GET", "/faceless/7", httpx.ConnectError)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN


@pytest.mark.django_db(transaction=True)
def test_a_sending_worker_beats_while_it_waits(make_held_charge: Held, settings: Any) -> None:
    settings.CHARGE_HEARTBEAT_TIMEOUT_S = 0.03
    charge = make_held_charge()
    past = timezone.now() - timedelta(minutes=1)
    Charge.objects.update(state=ChargeState.SENDING, sent_at=past, heartbeat_at=past, due_at=past)
    charge.refresh_from_db()
    with heartbeat.sender_heartbeat(charge):
        while charge.heartbeat_at == past:
            Event().wait(0.02)
            charge.refresh_from_db()
    assert charge.heartbeat_at
    assert charge.heartbeat_at > past
    assert charge.due_at > past


def test_a_late_answer_settles_what_was_called_lost_meanwhile(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The worker was suspended, a sweep took it for dead, and then its answer came after all."""
    charge = make_held_charge()

    def swept(_: httpx.Request) -> httpx.Response:
        Charge.objects.update(state=ChargeState.UNKNOWN, lost_at=timezone.now())
        return charged_response({"id": 7}, 92)

    upstream.respond(*RENDER, swept)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 92)
