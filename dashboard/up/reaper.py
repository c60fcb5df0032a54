"""Ensures that no process outlives the supervisor, even after `kill -9`.

This process leads the group in which all programs are started, and waits for the end of its
standard input, which the supervisor holds open. Then it terminates and finally kills the whole
group, including itself. It is started by path and without site-packages, because it must run before
the first program.
"""

from __future__ import annotations

import os
import signal
import sys
import time

KILL_GRACE_S = 3


def main() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGTERM)
    time.sleep(KILL_GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
