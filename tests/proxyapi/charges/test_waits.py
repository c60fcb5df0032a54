"""Waits: a sweep takes nobody for dead who is not, and no long call for done before its time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proxyapi.charges import waits
from proxyapi.charges.send import abandoned
from proxyapi.models import ChargeState
from proxyapi.upstream.catalog import CATALOG, Body
from tests.factories import ChargeFactory

CHARGING = sorted(name for name, row in CATALOG.items() if row.charging)
SOON = timedelta(seconds=1)


@pytest.mark.parametrize("operation", CHARGING)
def test_pitfall_34_a_sender_that_says_it_waits_is_left_alone_however_long(
    operation: str, db: None
) -> None:
    now = timezone.now()
    longest = timedelta(seconds=2 * CATALOG[operation].timeout)
    fields = {"state": ChargeState.SENDING, "sent_at": now - longest}
    alive = ChargeFactory(operation=operation, alive_at=now - waits.silence() + SOON, **fields)
    dead = ChargeFactory(operation=operation, alive_at=now - waits.silence(), **fields)
    assert not abandoned(alive)
    assert abandoned(dead)


@pytest.mark.parametrize("operation", CHARGING)
def test_a_long_call_may_be_charged_at_its_end_whenever_the_line_broke(
    operation: str, db: None
) -> None:
    sent_at, row = timezone.now(), CATALOG[operation]
    charge = ChargeFactory(operation=operation, state=ChargeState.SENDING, sent_at=sent_at)
    wait = waits.ended(charge) - sent_at
    if row.timeout > 60:
        files_first = 120 if row.body is Body.MULTIPART else 0
        assert wait == timedelta(seconds=row.timeout + files_first)
    else:
        assert wait < SOON


def test_pitfall_34_the_two_long_searches_are_waited_for() -> None:
    assert CATALOG["ideas.discover"].timeout >= 150
    assert CATALOG["characters.preview"].timeout >= 120
