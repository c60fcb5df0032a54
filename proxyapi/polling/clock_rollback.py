"""A clock that was put back: what rows tell of a time that now lies ahead again.

Contract: whatever lies further ahead of now than it ever may is brought to now. Else a turn that
was put off would wait until the clock is there again, and what is read meanwhile would be taken for
older than what is known. When a charge was sent, settled or lost stays as it is, for that is
evidence (rule 2).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import QuerySet

from proxyapi.models import (
    Account,
    AutoTopUp,
    Charge,
    Draft,
    LedgerMirror,
    TopUpChange,
    TopUpChangeState,
)

MAX_CLOCK_ROLLBACK = timedelta(minutes=1)  # ahead of now; what happened there did so before
MAX_SHORT_DELAY = timedelta(minutes=5)  # and more than anybody has a row, or puts most things off
MAX_LONG_DELAY = timedelta(minutes=20)  # and more than a charge or a ledger waits for its next turn
# An answer to what was asked since then is newer than what was known.
BEFORE_ROLLBACK_OFFSET = -MAX_CLOCK_ROLLBACK
NO_OFFSET = timedelta(0)
SENDING_GRACE = timedelta(minutes=3)  # more than a change of a top-up is with the one who sends it


class TimestampClamp(NamedTuple):
    """A time of rows, how far ahead of now it may lie, and what it becomes where it lies further,
    from now on."""

    queryset: QuerySet[Any]
    column: str
    max_ahead: timedelta
    replacement_offset: timedelta


_ACCOUNTS, _LEDGERS, _TOP_UPS = (
    Account.objects.all(),
    LedgerMirror.objects.all(),
    AutoTopUp.objects.all(),
)
_CHARGES, _CHANGES = Charge.objects.holding(), TopUpChange.objects.open()
_SENDING = _CHANGES.filter(state=TopUpChangeState.SENDING)
TIMESTAMP_CLAMPS = (
    TimestampClamp(_ACCOUNTS, "balance_as_of", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_ACCOUNTS, "refreshed_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_CHARGES, "heartbeat_at", MAX_CLOCK_ROLLBACK, NO_OFFSET),
    TimestampClamp(_CHARGES, "due_at", MAX_LONG_DELAY, NO_OFFSET),
    TimestampClamp(_CHARGES, "held_at", MAX_CLOCK_ROLLBACK, NO_OFFSET),
    TimestampClamp(Draft.objects.all(), "quote_due_at", MAX_SHORT_DELAY, NO_OFFSET),
    TimestampClamp(_LEDGERS, "api_problem_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_LEDGERS, "api_read_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_LEDGERS, "api_tried_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_LEDGERS, "due_at", MAX_LONG_DELAY, NO_OFFSET),
    TimestampClamp(_LEDGERS, "lease_expires_at", MAX_SHORT_DELAY, NO_OFFSET),
    TimestampClamp(_LEDGERS, "rechecked_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_LEDGERS, "read_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_LEDGERS, "checkpoint_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_TOP_UPS, "due_at", MAX_SHORT_DELAY, NO_OFFSET),
    TimestampClamp(_TOP_UPS, "read_at", MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET),
    TimestampClamp(_CHANGES, "requested_at", MAX_CLOCK_ROLLBACK, NO_OFFSET),
    TimestampClamp(_CHANGES, "sent_at", MAX_CLOCK_ROLLBACK, NO_OFFSET),
    # First: who may be sending it just now is left the time to end.
    TimestampClamp(_SENDING, "due_at", MAX_SHORT_DELAY, SENDING_GRACE),
    TimestampClamp(_CHANGES, "due_at", MAX_SHORT_DELAY, NO_OFFSET),
)


def repair_after_clock_rollback(now: datetime) -> None:
    """One update for each of the times; most of them find no row."""
    for rows, name, at_most, becomes in TIMESTAMP_CLAMPS:
        rows.filter(**{f"{name}__gt": now + at_most}).update(**{name: now + becomes})
