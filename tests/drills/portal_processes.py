"""Mortals: the processes of the portal beside a test, each of which may be killed and come again.

Web, two beats and one worker for all queues, by the commands of `make run`; somebody who looks at
pages; and a record of the ticks and of whose they were.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from random import Random
from threading import Event
from typing import Any

import httpx
import psutil

from dashboard.monitoring.queues import QUEUES
from dashboard.up.__main__ import BEAT_COMMAND, CELERY_COMMAND, web_command
from dashboard.up.install_paths import Installation
from proxyapi import tasks
from proxyapi.redis_client import connect_redis
from tests.drills import portal_commands
from tests.leak_search import LOGS
from tests.servers import find_unused_port
from tests.settings import TEST_DIR

WEB, WORKER, BEATS = "web", "worker", ("one beat", "other beat")
ONE_FOR_ALL = (
    *(*CELERY_COMMAND, "worker", "--queues", ",".join(QUEUES), "--concurrency", "2"),
    *("--loglevel", "WARNING"),
)
PAGES = ("/", "/library/", "/studio/", "/ledger/", "/costs/", "/reconciliation/", "/healthz")
STARTS_WITHIN = 60.0  # seconds


class PortalProcesses:
    def __init__(self, headers: dict[str, str]) -> None:
        """`headers` are those of somebody's browser."""
        place = Installation(TEST_DIR, find_unused_port(), 0, None, None)
        self._headers, self._address, self.over = headers, place.portal_url, Event()
        self._commands = {WEB: web_command(place), WORKER: [*ONE_FOR_ALL]}
        self._commands |= {name: [*BEAT_COMMAND] for name in BEATS}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.starts: list[tuple[float, str]] = []
        self.kills: list[tuple[float, str]] = []
        self._ended_at = 0.0
        self.ended: list[str] = []  # by themselves
        self.seen: dict[str, list[tuple[float, object]]] = defaultdict(list)
        self.pages = Counter[int]()  # by the status of the answer, 0 for none

    def start(self, name: str) -> None:
        # Of the waits one is shortened: the sandbox gets a request at once or never.
        environ = portal_commands.portal_environment(
            CELERY_SKIP_CHECKS="1", CHARGE_IN_FLIGHT_MAX_S="5"
        )
        with (LOGS / name.replace(" ", "-")).open("a") as log:
            self._running[name] = subprocess.Popen(
                self._commands[name], cwd=portal_commands.ROOT, env=environ, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.starts.append((time.monotonic(), name))

    def kill(self, name: str, mourning: float = 0.0) -> None:
        """-9 by its id; so many seconds later those that it forked, by the id of their group."""
        process = self._running[name]
        if process.poll() is not None:
            self.ended.append(f"{name} with {process.returncode}")
        process.kill()
        self.kills.append((time.monotonic(), name))
        Event().wait(mourning)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        del self._running[name]

    def stop_all(self) -> None:
        self.over.set()
        self._ended_at = time.monotonic()
        for name in [*self._running]:
            self.kill(name)

    def pick_running_beat(self, chance: Random) -> str:
        """Any of the two that leaves one which is up: it has spoken to Redis, and does or waits."""
        down = [name for name in BEATS if not self.is_connected(name)]
        return chance.choice(down or BEATS)

    def is_connected(self, name: str) -> bool:
        with suppress(psutil.Error):  # it ended by itself
            return bool(psutil.Process(self._running[name].pid).net_connections("all"))
        return False

    def request_status(self, method: str, path: str, timeout: float = 20, **form: Any) -> int:
        """The status of its answer, 0 for none."""
        with suppress(httpx.TransportError):
            return httpx.request(
                method, self._address + path, headers=self._headers, timeout=timeout,
                trust_env=False,
                **form,
            ).status_code  # fmt: skip
        return 0

    def visit_pages(self, chance: Random) -> None:
        """Request pages, whether the web server runs or not, until it is over."""
        while not self.over.wait(1):
            self.pages[self.request_status("GET", chance.choice(PAGES))] += 1

    def watch_ticks(self) -> None:
        """Every tick that a beat sent and that a worker did, every new holder of the lock."""
        store = connect_redis()
        while not self.over.wait(0.1):
            now = time.monotonic()
            for name, value in (
                ("sent", store.hget("reelroom:beat:tick", "meta")),
                ("done", store.get(tasks.TICK_HEARTBEAT_KEY)),
                ("held", store.get("reelroom:beat::lock")),
            ):
                if value and (not self.seen[name] or self.seen[name][-1][1] != value):
                    self.seen[name].append((now, value))

    def tick_gaps(self, name: str, again: str = "") -> list[float]:
        """Seconds to each of these, and to the end, from the one before; or from the last start of
        `again`, if that was later."""
        starts = [at for at, who in self.starts if who == again]
        moments = [*(at for at, _ in self.seen[name]), self._ended_at]
        return [b - max([a, *(at for at in starts if a < at < b)]) for a, b in pairwise(moments)]


@contextmanager
def running_portal_processes(headers: dict[str, str], chance: Random) -> Iterator[PortalProcesses]:
    """All of them, once they work; none of them in the end."""
    LOGS.mkdir(exist_ok=True)
    collected = portal_commands.run_program(
        "manage.py", "collectstatic", "--no-input", "--verbosity", "0"
    )
    assert collected.returncode == 0, collected.stderr
    mortals = PortalProcesses(headers)
    with ThreadPoolExecutor(2) as pool:
        try:
            for name in (WEB, WORKER, *BEATS):
                mortals.start(name)
            watching = pool.submit(mortals.watch_ticks)
            ready = seconds_until(
                lambda: mortals.seen["done"] and mortals.request_status("GET", "/readyz") == 200
            )
            assert ready < STARTS_WITHIN, "they did not start"
            visiting = pool.submit(mortals.visit_pages, chance)
            yield mortals
        finally:
            mortals.stop_all()
        watching.result()
        visiting.result()


def seconds_until(holds: Callable[[], object], seconds: float = STARTS_WITHIN) -> float:
    """Seconds until it did, or until the time was over."""
    begun = time.monotonic()
    while not holds() and time.monotonic() - begun < seconds:
        Event().wait(0.2)
    return time.monotonic() - begun
