"""Before a worker, a beat or a web server does anything: do its keys open what is stored?

`manage.py` checks by itself. Celery looks at no answer of a check, uvicorn makes none, and either
may be started with another environment than `prepare` was.
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
    """End the process with the sentences that say what is wrong; some milliseconds if nothing is.
    What is only odd, such as accounts of another upstream, is logged.

    A database that does not answer is no reason to end: that passes.
    """
    try:
        found = run_checks(tags=[STARTUP_TAG], databases=[DEFAULT_DB_ALIAS])
    finally:  # the processes that a worker forks must not share it
        connection.close()
        if close_pool := getattr(connection, "close_pool", None):  # PostgreSQL alone has one
            close_pool()
    wrong = [format_check_message(one) for one in found if one.is_serious()]
    if wrong:
        sys.exit("\n".join(wrong))
    for one in found:
        log.warning("%s", format_check_message(one))


def format_check_message(message: CheckMessage) -> str:
    return f"{message.msg} {message.hint or ''}".strip()


def run_startup_checks_in_thread() -> None:
    """The same where an event loop runs already, in which Django asks no database."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(run_startup_checks).result()
