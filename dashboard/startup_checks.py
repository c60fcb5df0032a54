"""Startup checks of workers, beats and web servers: can the current keys decrypt what is stored?

`manage.py` runs checks itself. Celery ignores the result of a check and uvicorn runs none, and both
may be started with an environment other than that of `prepare`.
"""

from __future__ import annotations

import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.core.checks import CheckMessage, run_checks
from django.db import DEFAULT_DB_ALIAS, connection

from proxyapi.checks import STARTUP_TAG

log = logging.getLogger(__name__)


def run_startup_checks(**_: Any) -> None:
    """End the process with the messages of serious problems; log warnings, such as accounts of
    another upstream.

    A database that does not answer does not end the process, because that passes.
    """
    try:
        messages = run_checks(tags=[STARTUP_TAG], databases=[DEFAULT_DB_ALIAS])
    finally:  # processes that a worker forks must not share the connection
        connection.close()
        if close_pool := getattr(connection, "close_pool", None):  # PostgreSQL only
            close_pool()
    errors = [format_check_message(message) for message in messages if message.is_serious()]
    if errors:
        sys.exit("\n".join(errors))
    for message in messages:
        log.warning("%s", format_check_message(message))


def format_check_message(message: CheckMessage) -> str:
    return f"{message.msg} {message.hint or ''}".strip()


def run_startup_checks_in_thread() -> None:
    """Run the checks in a thread: Django allows no database query inside a running event loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(run_startup_checks).result()
