"""Failpoints: named places in the processing of a charge where a drill kills the process.

`REELROOM_FAILPOINT=sent` kills with SIGKILL at the first call of `hit_failpoint("sent")`, `sent:3`
at the third. Without it a failpoint costs one comparison. A system check refuses the variable if
the upstream is not the sandbox (`proxyapi/checks.py`).

    intent      the charge is written, not committed
    enqueue     it is committed, the task is not queued
    dequeue     a worker has the task
    sent        the last byte of the charging request is sent
    answered    its answer or error is received and not stored
    publish     its outcome is committed, the event is not published
    recorded    everything is stored and published, the task is not acknowledged
    reconcile   the evidence of a lost answer is read, nothing is decided
"""

from __future__ import annotations

import os
import signal

FAILPOINTS = (
    "intent",
    "enqueue",
    "dequeue",
    "sent",
    "answered",
    "publish",
    "recorded",
    "reconcile",
)
ACTIVE_FAILPOINT, _, _HIT_COUNT = os.environ.get("REELROOM_FAILPOINT", "").partition(":")
_hits_left = int(_HIT_COUNT or 1)


def hit_failpoint(name: str) -> None:
    """Kill the process if this is the active failpoint and its count is reached."""
    global _hits_left
    if name != ACTIVE_FAILPOINT:
        return
    _hits_left -= 1
    if _hits_left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
