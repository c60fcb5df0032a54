"""Repair timestamps that are in the future because the clock was set back.

A timestamp further ahead than it can validly be becomes now. Otherwise work would wait until the
clock reaches it (rule 7), and new readings would count as older than stored ones. The times at
which a charge was sent, settled or lost are evidence and do not change (rule 2).
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
    Job,
    LedgerMirror,
    PageRead,
    TopUpChange,
    TopUpChangeState,
)

MAX_CLOCK_ROLLBACK = timedelta(minutes=1)  # ahead of now; a later event time is wrong
MAX_SHORT_DELAY = timedelta(minutes=5)  # longer than any lease and most retry delays
MAX_LONG_DELAY = timedelta(minutes=20)  # longer than a charge or a ledger waits for its next read
# Answers to later requests must be newer than the stored reading.
BEFORE_ROLLBACK_OFFSET = -MAX_CLOCK_ROLLBACK
NO_OFFSET = timedelta(0)
SENDING_GRACE = timedelta(minutes=3)  # longer than a worker takes to send a top-up change


class TimestampClamp(NamedTuple):
    """Columns of rows, how far ahead of now their times may be, and the offset from now that
    replaces later ones."""

    queryset: QuerySet[Any]
    columns: tuple[str, ...]
    max_ahead: timedelta
    replacement_offset: timedelta = NO_OFFSET


_CHARGES, _CHANGES = Charge.objects.holding(), TopUpChange.objects.open()
_SENDING = _CHANGES.filter(state=TopUpChangeState.SENDING)
_READINGS = (MAX_CLOCK_ROLLBACK, BEFORE_ROLLBACK_OFFSET)
_LEDGER_READINGS = (
    *("api_problem_at", "api_read_at", "api_tried_at"),
    *("rechecked_at", "read_at", "checkpoint_at"),
)
TIMESTAMP_CLAMPS = (
    TimestampClamp(Account.objects.all(), ("balance_as_of", "refreshed_at"), *_READINGS),
    TimestampClamp(_CHARGES, ("heartbeat_at", "held_at"), MAX_CLOCK_ROLLBACK),
    TimestampClamp(_CHARGES, ("due_at",), MAX_LONG_DELAY),
    TimestampClamp(Draft.objects.all(), ("quote_due_at",), MAX_SHORT_DELAY),
    TimestampClamp(Job.objects.all(), ("parts_due_at",), MAX_LONG_DELAY),
    TimestampClamp(PageRead.objects.all(), ("due_at",), MAX_SHORT_DELAY),
    TimestampClamp(LedgerMirror.objects.all(), _LEDGER_READINGS, *_READINGS),
    TimestampClamp(LedgerMirror.objects.all(), ("due_at",), MAX_LONG_DELAY),
    TimestampClamp(LedgerMirror.objects.all(), ("lease_expires_at",), MAX_SHORT_DELAY),
    TimestampClamp(AutoTopUp.objects.all(), ("due_at",), MAX_SHORT_DELAY),
    TimestampClamp(AutoTopUp.objects.all(), ("read_at",), *_READINGS),
    TimestampClamp(_CHANGES, ("requested_at", "sent_at"), MAX_CLOCK_ROLLBACK),
    # First: a worker that may be sending the change gets time to finish.
    TimestampClamp(_SENDING, ("due_at",), MAX_SHORT_DELAY, SENDING_GRACE),
    TimestampClamp(_CHANGES, ("due_at",), MAX_SHORT_DELAY),
)


def repair_after_clock_rollback(now: datetime) -> None:
    """Run one update for each column; most match no row."""
    for rows, columns, max_ahead, offset in TIMESTAMP_CLAMPS:
        for name in columns:
            rows.filter(**{f"{name}__gt": now + max_ahead}).update(**{name: now + offset})
