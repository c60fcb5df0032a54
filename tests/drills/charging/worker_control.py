"""Hands on the foundry: press, start workers, see how they end; the beat that finds the rest."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from proxyapi import tasks
from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, ChargeState
from proxyapi.polling import due_work
from tests.leak_search import LOGS
from tests.proxyapi.money.sandbox_account import FINAL_STATES

# Shortened: 15, 30, 10 seconds and the longest time of the operation else.
WAITS = {
    "CHARGE_HEARTBEAT_TIMEOUT_S": "1.5",
    "CHARGE_BOOKING_GRACE_S": "0.5",
    "CHARGE_RETRY_INTERVAL_S": "0.2",
    "CHARGE_IN_FLIGHT_MAX_S": "1",
}
KILLED = 9


class WorkerControl:
    def __init__(self, process: subprocess.Popen[str], queue: str) -> None:
        self._process, self.queue = process, queue
        self._base, self._turns = queue, count()

    def start_new_queue(self) -> None:
        """A queue of its own from now on: what is left in the last one is nobody's."""
        self.queue = f"{self._base}-{next(self._turns)}"

    def _send_order(self, **order: Any) -> int | None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: int | None = json.loads(self._process.stdout.readline())
        return answer

    def press_button(self, intent: ChargeIntent, point: str = "") -> int | None:
        """A web process writes the intent down; the signal that ended it, 0 for none."""
        return self._send_order(
            do="press", intent=describe_intent(intent), point=point, queue=self.queue
        )

    @contextmanager
    def start_worker(self, point: str = "") -> Iterator[int]:
        """A worker process; it is killed in the end, if it lives."""
        pid = self._send_order(do="work", point=point, queue=self.queue)
        assert pid
        try:
            yield pid
        finally:
            if self.wait_for_exit(pid, 0.05) is None:
                self._send_order(do="kill", pid=pid)

    def start_process(self, do: str, point: str = "", **order: Any) -> int:
        """A process of this kind (`process_factory`); its pid."""
        pid = self._send_order(do=do, point=point, queue=self.queue, **order)
        assert pid
        return pid

    def kill(self, pid: int) -> None:
        """-9, if it lives."""
        if self.wait_for_exit(pid, 0.01) is None:
            self._send_order(do="kill", pid=pid)

    def wait_for_exit(self, pid: int, seconds: float) -> int | None:
        try:
            return self._send_order(do="await", pid=pid, seconds=seconds)
        except json.JSONDecodeError:
            return None


def describe_intent(intent: ChargeIntent) -> dict[str, Any]:
    uploads = [
        (it.field, it.name, it.content_type, base64.b64encode(it.content).decode())
        for it in intent.uploads
    ]
    return {
        "job": str(intent.job.pk) if intent.job else None,
        "token": str(intent.token.pk) if intent.token else None,
        "operation": intent.operation,
        "nonce": str(intent.nonce),
        "hold": str(intent.hold),
        "quote": str(intent.quote),
        "body": intent.body,
        "path": intent.path,
        "uploads": uploads,
    }


@contextmanager
def running_process_factory(sandbox: str, queue: str = "work") -> Iterator[WorkerControl]:
    """A foundry on the database and the Redis of this test, with its log among the others."""
    LOGS.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        **WAITS,
        "DRILL_LOG": str(LOGS / queue),
        "LOG_LEVEL": "DEBUG",
        "CELERY_SKIP_CHECKS": "1",  # they cost each of two thousand workers 0.4 s of a processor
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": settings.REDIS_URL,
        "VIDEO_API_BASE_URL": f"{sandbox}/v2",
    }
    command = [sys.executable, "-m", "tests.drills.charging.process_factory"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, env=environment, stdin=pipe, stdout=pipe, text=True, bufsize=1
    ) as process:
        yield WorkerControl(process, queue)
        assert process.stdin
        process.stdin.close()


def database_url(database: Mapping[str, Any]) -> str:
    if "sqlite" in database["ENGINE"]:
        return f"sqlite:///{database['NAME']}"
    return f"postgres://{database['USER']}@/{database['HOST']}/{database['NAME']}"


def sweep_until_settled(charge: Charge, seconds: float, queue: str = "work") -> float:
    """Ring for it when it is due, as the beat does, until it is settled; how long that took."""
    began = time.monotonic()
    charge.refresh_from_db()
    while charge.state not in FINAL_STATES and time.monotonic() - began < seconds:
        enqueue_if_due(charge, queue)
        threading.Event().wait(0.1)
        charge.refresh_from_db()
    return time.monotonic() - began


def enqueue_if_due(charge: Charge, queue: str) -> None:
    """Ring for it once, as the beat does."""
    now = timezone.now()
    if Charge.objects.due(now).filter(pk=charge.pk).update(due_at=now + due_work.LEASE_DURATION):
        held = charge.state == ChargeState.HELD
        task = tasks.dispatch_charge_task if held else tasks.reconcile_charge_task
        task.apply_async((str(charge.pk),), queue=queue)
