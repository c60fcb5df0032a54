"""A clock that was put back: what rows tell of a time that now lies ahead again.

Contract: whatever lies further ahead of now than it ever may is brought to now. Else a turn that
was put off would wait until the clock is there again, and what is read meanwhile would be taken for
older than what is known. When a charge was sent, settled or lost stays as it is, for that is
evidence (law 2).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet

from proxyapi.models import Account, Charge, Job, Ledger, TopUp, TopUpChange, TopUpChangeState

PUT_BACK = timedelta(minutes=1)  # ahead of now; what happened there did so before
A_WHILE = timedelta(minutes=5)  # and more than anybody has a row, or puts most things off
FARTHEST = timedelta(minutes=20)  # and more than a charge or a ledger waits for its next turn
# An answer to what was asked since then is newer than what was known.
SINCE_THEN = -PUT_BACK
NOW = timedelta(0)
BY_ITS_WORKER = timedelta(minutes=3)  # more than a change of a top-up is with the one who sends it


class Time(NamedTuple):
    """A time of rows, how far ahead of now it may lie, and what it becomes where it lies further,
    from now on."""

    rows: QuerySet[Any]
    name: str
    at_most: timedelta
    becomes: timedelta


_ACCOUNTS, _LEDGERS, _TOP_UPS = Account.objects.all(), Ledger.objects.all(), TopUp.objects.all()
_CHARGES, _CHANGES = Charge.objects.holding(), TopUpChange.objects.open()
_SENDING = _CHANGES.filter(state=TopUpChangeState.SENDING)
TIMES = (
    Time(_ACCOUNTS, "balance_as_of", PUT_BACK, SINCE_THEN),
    Time(_ACCOUNTS, "refreshed_at", PUT_BACK, SINCE_THEN),
    Time(_CHARGES, "alive_at", PUT_BACK, NOW),
    Time(_CHARGES, "due_at", FARTHEST, NOW),
    Time(_CHARGES, "held_at", PUT_BACK, NOW),
    Time(Job.objects.all(), "quote_due_at", A_WHILE, NOW),
    Time(_LEDGERS, "api_problem_at", PUT_BACK, SINCE_THEN),
    Time(_LEDGERS, "api_read_at", PUT_BACK, SINCE_THEN),
    Time(_LEDGERS, "api_tried_at", PUT_BACK, SINCE_THEN),
    Time(_LEDGERS, "due_at", FARTHEST, NOW),
    Time(_LEDGERS, "held_until", A_WHILE, NOW),
    Time(_LEDGERS, "patrolled_at", PUT_BACK, SINCE_THEN),
    Time(_LEDGERS, "read_at", PUT_BACK, SINCE_THEN),
    Time(_LEDGERS, "weighed_at", PUT_BACK, SINCE_THEN),
    Time(_TOP_UPS, "due_at", A_WHILE, NOW),
    Time(_TOP_UPS, "read_at", PUT_BACK, SINCE_THEN),
    Time(_CHANGES, "asked_at", PUT_BACK, NOW),
    Time(_CHANGES, "sent_at", PUT_BACK, NOW),
    # First: who may be sending it just now is left the time to end.
    Time(_SENDING, "due_at", A_WHILE, BY_ITS_WORKER),
    Time(_CHANGES, "due_at", A_WHILE, NOW),
)


def mend(now: datetime) -> None:
    """One update for each of the times; most of them find no row."""
    for rows, name, at_most, becomes in TIMES:
        rows.filter(**{f"{name}__gt": now + at_most}).update(**{name: now + becomes})
