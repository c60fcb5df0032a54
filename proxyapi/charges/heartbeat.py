"""The sender's heartbeat while a request is under way, so that a dead worker is noticed soon.

Calls can take minutes. Without a heartbeat a charge in `sending` could be called abandoned only
after the longest of them; with it, 15 seconds after its worker died.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import DatabaseError, connection
from django.db.models import Case, F, Value, When
from django.utils import timezone

from proxyapi.charges import timeouts
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import UNDECIDED_STATES


@contextmanager
def sender_heartbeat(charge: Charge) -> Iterator[None]:
    """Record a heartbeat every few seconds while the context lasts."""
    answered = Event()
    signs = Thread(target=run_heartbeat, args=(charge, answered), daemon=True)
    signs.start()
    try:
        yield
    finally:
        answered.set()
        signs.join()


def run_heartbeat(charge: Charge, answered: Event) -> None:
    try:
        while not answered.wait(timeouts.heartbeat_timeout().total_seconds() / 3):
            try:
                beat(charge)
            except DatabaseError:
                connection.close()  # the next heartbeat opens a new one, which may work
    finally:
        connection.close()  # this thread's own connection


def beat(charge: Charge) -> None:
    """Record that the sender still waits, also if a sweep has marked the charge unknown meanwhile:
    it must not be called uncharged while a process waits for its answer. `due_at` of an unknown
    charge stays."""
    now = timezone.now()
    claimed = Charge.objects.filter(
        pk=charge.pk, state__in=UNDECIDED_STATES, attempts=charge.attempts
    )
    still_sending = When(state=ChargeState.SENDING, then=Value(now + timeouts.heartbeat_timeout()))
    claimed.update(heartbeat_at=now, due_at=Case(still_sending, default=F("due_at")))
