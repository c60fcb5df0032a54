"""What a running batch does next: begin a row, wait, pause or end. Pure, for property tests.

A batch never spends and holds more than its limit: a row begins only if all that was spent, all
that rows in progress may still cost, and the row's own limit fit. Between script and render a row
holds less than its limit, so the limit counts, not the hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from dashboard.models import BatchRowState


class StepKind(StrEnum):
    BEGIN = "begin"
    WAIT = "wait"
    STOP_FAILURES = "stop_failures"
    STOP_CREDITS = "stop_credits"
    FINISH = "finish"


class RowFacts(NamedTuple):
    """Credits: what the row has spent and holds (`used`) and may cost at most (`limit`), both in
    this attempt, and what it used in earlier ones (`earlier`)."""

    number: int
    state: str
    used: Decimal
    limit: Decimal
    earlier: Decimal = Decimal(0)

    @property
    def committed(self) -> Decimal:
        is_open = self.state == BatchRowState.BEGUN
        return self.earlier + (max(self.used, self.limit) if is_open else self.used)


class NextStep(NamedTuple):
    kind: StepKind
    number: int = 0  # of the row to begin


def decide_next_step(
    rows: Sequence[RowFacts], *, at_once: int, max_credits: Decimal, max_failures: int
) -> NextStep:
    """`rows` are in the order in which they are begun."""
    begun = [row for row in rows if row.state == BatchRowState.BEGUN]
    waiting = [row for row in rows if row.state == BatchRowState.WAITING]
    if not waiting:
        return NextStep(StepKind.WAIT if begun else StepKind.FINISH)
    failures = sum(row.state == BatchRowState.FAILED for row in rows)
    if max_failures and failures >= max_failures:
        return NextStep(StepKind.STOP_FAILURES)
    if len(begun) >= at_once:
        return NextStep(StepKind.WAIT)
    row = waiting[0]
    if sum(row.committed for row in rows) + row.limit > max_credits:
        return NextStep(StepKind.WAIT if begun else StepKind.STOP_CREDITS)
    return NextStep(StepKind.BEGIN, row.number)
