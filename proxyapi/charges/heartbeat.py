"""The sender: a sign of life while a request is under way, so that a dead one is found soon.

Calls take up to minutes. Without a sign a charge in `sending` could be called abandoned only after
the longest of them; with it, a quarter of a minute after its worker died.
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
    """While this lasts, the charge says every few seconds that somebody waits for its answer."""
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
                connection.close()  # the next one opens it anew, and may get through
    finally:
        connection.close()  # this thread's own


def beat(charge: Charge) -> None:
    """Also when a sweep called it unknown meanwhile, as after a while without the database: as long
    as somebody waits for its answer, it is not called uncharged. When to read it back stays."""
    now = timezone.now()
    mine = Charge.objects.filter(pk=charge.pk, state__in=UNDECIDED_STATES, attempts=charge.attempts)
    still_sending = When(state=ChargeState.SENDING, then=Value(now + timeouts.heartbeat_timeout()))
    mine.update(heartbeat_at=now, due_at=Case(still_sending, default=F("due_at")))
