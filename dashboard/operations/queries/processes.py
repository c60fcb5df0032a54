"""Workers, beat, Redis, database and disk, as this web process sees them now."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple, cast

import redis
from django.conf import settings
from django.db import connection
from django.utils import timezone

from dashboard.monitoring import readiness
from dashboard.monitoring.queues import QUEUES, QueueState, read_queues
from dashboard.shared.clock_differences import read_clock_differences
from dashboard.shared.formatting import duration
from proxyapi import redis_client
from proxyapi.tasks import TICK_HEARTBEAT_KEY

BYTES_PER_GB = 1024**3
LATE_AFTER = timedelta(seconds=4)  # the tick comes each second, a ping of each queue each 5 s


class ProcessState(NamedTuple):
    """`state`: completed | late | failed; `value` stands at the end of the line."""

    name: str
    state: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class RedisReading:
    """What one round trip to Redis told. `ticked_at`: when a worker last ran the tick of beat."""

    ping_ms: float
    ticked_at: datetime | None
    queues: dict[str, QueueState]
    used_memory: str


def load_processes() -> tuple[ProcessState, ...]:
    """One query and three round trips to Redis."""
    return tuple(iter_process_states())


def iter_process_states() -> Iterator[ProcessState]:
    reading = read_redis()
    yield from iter_worker_states(reading)
    yield database_state()
    if reading is None:
        text = "Pages refresh every 10 s. Nothing is sent until it answers."
        yield ProcessState("Redis", "failed", "no answer", text)
    else:
        text = f"{reading.used_memory}. It may be emptied at any time."
        yield ProcessState("Redis", "completed", f"{reading.ping_ms:.1f} ms", text)
    yield disk_state()


def iter_worker_states(reading: RedisReading | None) -> Iterator[ProcessState]:
    if reading is None:
        text = "Redis does not answer, so the state of the worker is unknown."
        yield ProcessState("Workers and beat", "late", "unknown", text)
        return
    if reading.ticked_at is None:
        text = (
            "Nothing is sent and nothing is polled. No charge is lost: they wait with their holds."
        )
        yield ProcessState("Workers and beat", "failed", "not seen for 30 s", text)
    else:
        silence = timezone.now() - reading.ticked_at
        state, text = "completed", queue_text(reading.queues)
        if silence > LATE_AFTER:
            state, text = "late", "A worker runs a task each second when all is well."
        yield ProcessState("Workers and beat", state, f"seen {duration(silence)} ago", text)
    for name, queue in QUEUES.items():
        waiting = timedelta(seconds=reading.queues[name].oldest_s)
        state, value = "completed", "answers"
        if waiting > LATE_AFTER:
            state = "failed" if waiting.total_seconds() > queue.max_wait_s else "late"
            value = f"silent for {duration(waiting)}"
        yield ProcessState(queue.worker, state, value, queue.text)
    if problem := readiness.check_charges():
        yield ProcessState("Charges", "failed", "not sent", problem)
    if problem := readiness.check_charge_log():
        yield ProcessState("Charge log", "failed", "not written", problem)
    for clock in read_clock_differences():
        difference = f"differs by {duration(abs(clock.offset))}"
        yield ProcessState(clock.name, "failed", difference, clock.text)


def queue_text(queues: dict[str, QueueState]) -> str:
    waiting = {name: queue.messages for name, queue in queues.items() if queue.messages}
    if not waiting:
        return "Queues empty"
    return "Waiting: " + ", ".join(f"{count} in {name}" for name, count in waiting.items())


def read_redis() -> RedisReading | None:
    """Return None if Redis does not answer."""
    try:
        store = redis_client.connect_redis()
        started = time.monotonic()
        store.ping()
        ping_ms = (time.monotonic() - started) * 1000
        with store.pipeline(transaction=False) as pipeline:
            pipeline.get(TICK_HEARTBEAT_KEY)
            pipeline.info("memory")
            ticked, memory = pipeline.execute()
        states = read_queues(store)
    except redis.RedisError:
        return None
    return RedisReading(
        ping_ms=ping_ms,
        ticked_at=parse_tick(cast(bytes | None, ticked)),
        queues=states,
        used_memory=f"{memory.get('used_memory_human', '?')}B used",
    )


def parse_tick(text: bytes | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text.decode()) if text else None
    except ValueError:
        return None


def database_state() -> ProcessState:
    started = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    milliseconds = (time.monotonic() - started) * 1000
    problem = readiness.check_migrations()
    text = problem or f"{connection.display_name}, migrations applied"
    state = "failed" if problem else "completed"
    return ProcessState("Database", state, f"{milliseconds:.1f} ms", text)


def disk_state() -> ProcessState:
    """The disk of `var`, where the charge log and an embedded database are."""
    usage = shutil.disk_usage(nearest_folder(Path(settings.VAR)))
    used = round(100 * (usage.total - usage.free) / usage.total)
    problem = readiness.check_disk_space()
    text = problem or f"{usage.free / BYTES_PER_GB:.0f} GB free"
    return ProcessState("Disk", "failed" if problem else "completed", f"{used} % used", text)


def nearest_folder(path: Path) -> Path:
    """The path, or the nearest parent that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())
