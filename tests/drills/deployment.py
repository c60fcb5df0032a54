"""A fleet: two web servers, a worker and two beats, of one release or of two, and its balancer.

One after the other is replaced by one of the next release, as a rolling deployment does it: the new
one first, where there may be two of them; the old one is told to end when nothing new reaches it.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import NamedTuple

import httpx

from dashboard.up.__main__ import BEAT_COMMAND, PREPARE_COMMAND, web_command
from dashboard.up.install_paths import Installation
from tests.drills import portal_commands
from tests.drills.portal_processes import ONE_FOR_ALL, seconds_until
from tests.drills.releases import Release
from tests.leak_search import LOGS
from tests.servers import find_unused_port

WEBS, BEATS = 2, 2
DRAINED = 1.0  # seconds in which what was already chosen has arrived
READY_WITHIN = 60.0
ENDS_WITHIN = {"web": 10.0, "worker": 60.0, "beat": 10.0}  # seconds


class WebServer(NamedTuple):
    """A web server, at the address that the balancer knows."""

    release: Release
    address: str
    process: subprocess.Popen[bytes]

    def is_ready(self) -> bool:
        with suppress(httpx.TransportError):
            return httpx.get(f"{self.address}/readyz", timeout=20).status_code == 200
        return False


class Deployment:
    """Nothing until it is launched. `serving` is what the balancer chooses from."""

    def __init__(self) -> None:
        self.serving: list[WebServer] = []
        self.took: dict[str, float] = dict.fromkeys(ENDS_WITHIN, 0.0)  # at most, to end
        self.broken: list[str] = []
        self._workers: list[subprocess.Popen[bytes]] = []
        self._beats: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []

    def launch(self, release: Release) -> None:
        self._start_worker(release)
        for _ in range(BEATS):
            self._start_beat(release)
        for _ in range(WEBS):
            self._serve(release)

    def roll_out(self, release: Release) -> None:
        for old in [*self.serving]:
            self._serve(release)
            self.serving.remove(old)
            Event().wait(DRAINED)
            self._end("web", old.process)
        for old_worker in [*self._workers]:
            self._start_worker(release)
            self._end("worker", old_worker)
            self._workers.remove(old_worker)
        for old_beat in [*self._beats]:
            self._end("beat", old_beat)
            self._beats.remove(old_beat)
            self._start_beat(release)

    def stop(self) -> None:
        for process in self._all:
            if process.poll() is None:
                process.terminate()
        for process in self._all:
            process.wait(ENDS_WITHIN["worker"])

    def _serve(self, release: Release) -> None:
        place = Installation(Path(), find_unused_port(), 0, None, None)
        process = self._start(f"web of {release.name}", web_command(place), release)
        server = WebServer(release, place.portal_url, process)
        ready = seconds_until(server.is_ready, READY_WITHIN)
        assert ready < READY_WITHIN, f"a web of {release.name} is not ready"
        self.serving.append(server)

    def _start_worker(self, release: Release) -> None:
        command = [*ONE_FOR_ALL, "--hostname", f"{release.folder.name}@%h"]
        self._workers.append(self._start(f"worker of {release.name}", command, release))

    def _start_beat(self, release: Release) -> None:
        self._beats.append(self._start(f"beat of {release.name}", [*BEAT_COMMAND], release))

    def _start(self, name: str, command: list[str], release: Release) -> subprocess.Popen[bytes]:
        process = start_process(name, command, release)
        self._all.append(process)
        return process

    def _end(self, kind: str, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is not None:
            self.broken.append(f"a {kind} ended by itself with {process.returncode}")
        begun = time.monotonic()
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(2 * ENDS_WITHIN[kind])
        process.kill()
        process.wait()
        self.took[kind] = max(self.took[kind], time.monotonic() - begun)


@contextmanager
def running_deployment(release: Release) -> Iterator[Deployment]:
    fleet = Deployment()
    try:
        fleet.launch(release)
        yield fleet
    finally:
        fleet.stop()


def prepare_twice(release: Release) -> list[int]:
    """`manage.py prepare` of two containers that start at once; their exit statuses."""
    both = [
        start_process(f"prepare {release.name} {n}", [*PREPARE_COMMAND], release)
        for n in range(WEBS)
    ]
    return [process.wait(300) for process in both]


def start_process(name: str, command: list[str], release: Release) -> subprocess.Popen[bytes]:
    environ = portal_commands.portal_environment(CELERY_SKIP_CHECKS="1", CHARGE_IN_FLIGHT_MAX_S="5")
    LOGS.mkdir(exist_ok=True)
    with (LOGS / name.replace(" ", "-")).open("a") as log:
        return subprocess.Popen(
            command, cwd=release.folder, env=environ, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log,
        )  # fmt: skip
