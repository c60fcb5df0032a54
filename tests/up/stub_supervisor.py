"""`make run` with programs that only wait, in `python -m tests.up.stub_supervisor`.

Supervisor, reaper, lock, signals and output are the real ones. Each program is a shell that ends at
SIGTERM and leaves a child behind. STUB_PREPARE is the command in the place of `prepare`.
"""

from __future__ import annotations

import os
import sys

from dashboard.up import __main__ as supervisor
from dashboard.up import processes, valkey


def waiting_program(name: str) -> tuple[str, ...]:
    return ("sh", "-c", "sleep 3600 >/dev/null 2>&1 & wait", name)


async def is_ready(*_: object) -> bool:
    return True


def stubs() -> dict[str, object]:
    """What the supervisor uses, by its name there."""
    names = ("WORKER_COMMAND", "BEAT_COMMAND")
    return {
        "PREPARE_COMMAND": ("sh", "-c", os.environ.get("STUB_PREPARE", "true")),
        **{name: waiting_program(name.removesuffix("_COMMAND").lower()) for name in names},
        "WORKERS": {name: waiting_program(name) for name in supervisor.WORKERS},
        "web_command": lambda _: waiting_program("web"),
        "sandbox_command": lambda _: waiting_program("sandbox"),
        "is_portal_ready": is_ready,
    }


def valkey_stubs() -> dict[str, object]:
    command = waiting_program("valkey")
    ready = dict.fromkeys(("is_valkey_ready", "has_worker_ticked"), is_ready)
    return {"valkey_command": lambda _: command, **ready}


if __name__ == "__main__":
    vars(supervisor).update(stubs())
    vars(valkey).update(valkey_stubs())
    processes.RESTART_DELAYS_S = (0, 0.1)
    sys.exit(supervisor.main())
