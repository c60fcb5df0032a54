"""Waits: a sweep takes nobody for dead who is not, and no request for over before its time."""

from __future__ import annotations

from datetime import timedelta
from threading import Event
from unittest.mock import Mock

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.utils import timezone

from proxyapi.charges import heartbeat, timeouts
from proxyapi.charges.dispatch import is_sender_dead
from proxyapi.models import Charge, ChargeState
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.endpoint import RequestBody
from tests.factories import ChargeFactory

pytestmark = pytest.mark.postgresql

CHARGING = sorted(name for name, row in OPERATIONS.items() if row.charging)
SOON = timedelta(seconds=1)


@pytest.mark.parametrize("operation", CHARGING)
def test_pitfall_34_a_worker_with_a_heartbeat_is_left_alone_however_long(
    operation: str, db: None
) -> None:
    now = timezone.now()
    longest = timedelta(seconds=2 * OPERATIONS[operation].timeout)
    fields = {"state": ChargeState.SENDING, "sent_at": now - longest}
    alive = ChargeFactory(
        operation=operation, heartbeat_at=now - timeouts.heartbeat_timeout() + SOON, **fields
    )
    dead = ChargeFactory(
        operation=operation, heartbeat_at=now - timeouts.heartbeat_timeout(), **fields
    )
    assert not is_sender_dead(alive)
    assert is_sender_dead(dead)


def test_pitfall_34_a_heartbeat_survives_a_broken_connection(
    db: None, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    """A connection that broke stays broken until it is closed; the next sign needs another one."""
    settings.CHARGE_HEARTBEAT_TIMEOUT_S = 0.03
    said: list[int] = []
    closed: list[int] = []
    answered = Event()

    def say(charge: Charge) -> None:
        said.append(len(closed))
        if len(said) == 1:
            raise OperationalError("the connection is closed")
        answered.set()

    monkeypatch.setattr(heartbeat, "beat", say)
    monkeypatch.setattr(heartbeat, "connection", Mock(close=lambda: closed.append(1)))
    heartbeat.run_heartbeat(ChargeFactory(), answered)
    assert said == [0, 1]


@pytest.mark.parametrize("state", [ChargeState.SENDING, ChargeState.UNKNOWN])
def test_a_worker_presumed_dead_keeps_its_heartbeat(state: ChargeState, db: None) -> None:
    """Without a database for a while it could not say so. When the charge is read back stays."""
    long_ago = timezone.now() - timedelta(minutes=1)
    fields = {"sent_at": long_ago, "heartbeat_at": long_ago, "due_at": long_ago}
    charge = ChargeFactory(operation="faceless.render", state=state, **fields)
    heartbeat.beat(charge)
    charge.refresh_from_db()
    assert charge.heartbeat_at is not None
    assert charge.heartbeat_at > timezone.now() - SOON
    assert (charge.due_at == long_ago) == (state == ChargeState.UNKNOWN)


@pytest.mark.parametrize("operation", CHARGING)
def test_a_request_may_be_on_its_way_for_its_longest_time_whenever_the_line_broke(
    operation: str, db: None
) -> None:
    """A proxy may drop our connection and forward the request later."""
    sent_at, row = timezone.now(), OPERATIONS[operation]
    charge = ChargeFactory(operation=operation, state=ChargeState.SENDING, sent_at=sent_at)
    files_first = 120 if row.body is RequestBody.MULTIPART else 0
    wait = timeouts.latest_completion(charge) - sent_at
    assert wait == timedelta(seconds=row.timeout + files_first)


def test_pitfall_34_the_two_long_searches_are_waited_for() -> None:
    assert OPERATIONS["ideas.discover"].timeout >= 150
    assert OPERATIONS["characters.preview"].timeout >= 120
