"""Whether this installation can do its work, and what it lacks for it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import redis
from django.db import DatabaseError, connection
from django.utils import timezone

from dashboard.maintenance import migration_executor
from proxyapi import redis_client
from proxyapi.credentials import encryption
from proxyapi.tasks import SLOW_PING_KEY, TICK_HEARTBEAT_KEY

MIN_FREE_DISK_BYTES = 16 * 1024**2  # bytes beside SQLite's file, for its journal too
SLOW_WORKER_TIMEOUT = timedelta(minutes=2)
_migrated = False


def find_missing_requirements() -> dict[str, str]:
    """What is missing, by its name, in words for the person who runs the site; empty when ready."""
    checks: dict[str, Callable[[], str]] = {
        "database": check_database,
        "disk": check_disk_space,
        "migrations": check_migrations,
        "redis": check_redis,
        "keys": check_token_encryption,
        "worker": check_worker,
        "slow worker": check_slow_worker,
    }
    found = {name: check() for name, check in checks.items()}
    return {name: sentence for name, sentence in found.items() if sentence}


def check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database does not answer."
    return ""


def check_disk_space() -> str:
    """SQLite reads on a full disk and keeps nothing. Another database has a disk of its own."""
    if connection.vendor != "sqlite":
        return ""
    free = shutil.disk_usage(Path(connection.settings_dict["NAME"]).parent).free
    return (
        ""
        if free >= MIN_FREE_DISK_BYTES
        else f"The database's disk is full: {free // 1024**2} MiB free."
    )


def check_migrations() -> str:
    """Asked until the answer is yes: nobody takes a migration back under a running process."""
    global _migrated
    try:
        _migrated = _migrated or migration_executor.is_migrated()
    except DatabaseError:
        return "The database does not tell its migrations."
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
        return "ENCRYPTION_KEYS cannot be read."
    return ""


def check_worker() -> str:
    """The tick leaves a sign that fades after 30 s: beat sends it, a worker carries it out."""
    try:
        alive = redis_client.connect_redis().exists(TICK_HEARTBEAT_KEY)
    except redis.RedisError:
        return "Redis does not answer, so nothing is known of the worker."
    return "" if alive else "No worker has done a tick in the last 30 s."


def check_slow_worker() -> str:
    """The tick notes since when the slow worker is asked, the worker takes the note away."""
    try:
        asked = cast(bytes | None, redis_client.connect_redis().get(SLOW_PING_KEY))
    except redis.RedisError:
        return ""  # said above
    if (
        asked is None
        or timezone.now() - datetime.fromisoformat(asked.decode()) < SLOW_WORKER_TIMEOUT
    ):
        return ""
    return "No worker has taken up slow work (ledgers, deliveries) in the last 2 minutes."
