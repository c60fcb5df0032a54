"""Failpoints: named places in the way of a charge where a drill kills the process.

`REELROOM_FAILPOINT=sent` kills with SIGKILL at the first time that `reach("sent")` is called,
`sent:3` at the third. Without it a point costs one comparison. A system check refuses the variable
where the upstream is not the sandbox (`proxyapi/checks.py`).

    intent      the charge is written, not committed
    enqueue     it is committed, the doorbell has not rung
    dequeue     a worker has the task
    sent        the last byte of the charging request is out
    answered    its answer, or what went wrong, is known and not written down
    publish     what it became is committed, and not announced
    recorded    all is written and announced, the task is not acknowledged
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
    """Die here, if this is the point and the time."""
    global _hits_left
    if name != ACTIVE_FAILPOINT:
        return
    _hits_left -= 1
    if _hits_left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
