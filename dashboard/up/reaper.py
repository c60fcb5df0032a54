"""Sees to it that no process outlives the supervisor, a `kill -9` of it included.

The warden leads the process group that all programs are started into, and waits for the end of
its standard input, which the supervisor holds open. When that end comes, whatever is left in the
group is asked to stop, then killed, and the warden with it. Started by path and without
site-packages: it has to be there before the first program is.
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
