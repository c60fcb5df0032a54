"""Readiness: whether this installation can work, and what is missing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import redis
from django.db import DatabaseError, connection
from django.utils import timezone

from dashboard.maintenance import migration_executor
from dashboard.monitoring.queues import QUEUES, read_queues
from proxyapi import charge_log, redis_client
from proxyapi.credentials import encryption
from proxyapi.models import Charge, ChargeState
from proxyapi.tasks import TICK_HEARTBEAT_KEY

MIN_FREE_DISK_BYTES = 16 * 1024**2  # on the disk of SQLite's file, for its journal as well
CHARGE_PICKUP_TIMEOUT = timedelta(seconds=45)  # the sweep finds each due charge within 30 s
_migrated = False


def find_missing_requirements() -> dict[str, str]:
    """The failed checks by name, as sentences for the operator; empty when ready."""
    results = {name: check() for name, check in CHECKS.items()}
    return {name: sentence for name, sentence in results.items() if sentence}


def check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer."
    return ""


def check_disk_space() -> str:
    """SQLite can read on a full disk but not write. Another database has its own disk."""
    if connection.vendor != "sqlite":
        return ""
    free_bytes = shutil.disk_usage(Path(connection.settings_dict["NAME"]).parent).free
    return (
        ""
        if free_bytes >= MIN_FREE_DISK_BYTES
        else f"The database's disk is full: {free_bytes // 1024**2} MiB free."
    )


def check_migrations() -> str:
    """Checked until it succeeds: no migration is reverted under a running process."""
    global _migrated
    try:
        _migrated = _migrated or migration_executor.is_migrated()
    except DatabaseError:
        return "The applied migrations cannot be read."
    return "" if _migrated else "Migrations are not applied. Run: manage.py prepare"


def check_redis() -> str:
    try:
        redis_client.connect_redis().ping()
    except redis.RedisError:
        return "Redis does not answer."
    return ""


def check_token_encryption() -> str:
    try:
        encryption.load_key_ring()
    except encryption.EncryptionError:
        return "ENCRYPTION_KEYS cannot be parsed."
    return ""


def check_worker() -> str:
    """The tick, which beat sends and a worker runs, sets a key that expires after 30 s."""
    try:
        has_ticked = redis_client.connect_redis().exists(TICK_HEARTBEAT_KEY)
    except redis.RedisError:
        return "Redis does not answer, so the state of the worker is unknown."
    return "" if has_ticked else "No worker has run a task in the last 30 s."


def check_queues() -> str:
    """Each queue gets a message every 5 s, so the oldest one is old if no worker takes them, or if
    the workers cannot keep up."""
    try:
        states = read_queues(redis_client.connect_redis())
    except redis.RedisError:
        return ""  # `check_redis` reports it
    return " ".join(
        f"Queue {name}: a message has waited {states[name].oldest_s:.0f} s for a worker."
        for name, queue in QUEUES.items()
        if states[name].oldest_s > queue.max_wait_s
    )


def check_charges() -> str:
    """A held charge that no worker has tried: all of them wait for answers. One that was tried and
    is postponed has a reason."""
    now = timezone.now()
    untried = Charge.objects.filter(
        state=ChargeState.HELD, reason="", held_at__lt=now - CHARGE_PICKUP_TIMEOUT
    )
    try:
        held_at = untried.order_by("held_at").values_list("held_at", flat=True).first()
    except DatabaseError:
        return ""  # `check_database` or `check_migrations` reports it
    if held_at is None:
        return ""
    seconds = int((now - held_at).total_seconds())
    return f"A charge has waited {seconds} s for a worker to send it."


def check_charge_log() -> str:
    try:
        is_unwritable = charge_log.is_unwritable()
    except redis.RedisError:
        return ""  # `check_redis` reports it
    if not is_unwritable:
        return ""
    return "The charge log cannot be written to its disk. No charge is sent until it can."


CHECKS: dict[str, Callable[[], str]] = {
    "database": check_database,
    "disk": check_disk_space,
    "migrations": check_migrations,
    "redis": check_redis,
    "keys": check_token_encryption,
    "worker": check_worker,
    "queues": check_queues,
    "charges": check_charges,
    "charge log": check_charge_log,
}
