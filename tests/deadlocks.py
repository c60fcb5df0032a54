"""Two transactions that must not wait for each other: ours, and one in a thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from django.db import connection, transaction

from proxyapi.models import Account

LOCK_WAITER_SQL = """SELECT 1 FROM pg_locks
WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"""


def run_beside(account: Account, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
    """Do ours with the account locked, as soon as theirs waits for it; then theirs goes on.

    PostgreSQL ends one of two that wait for each other. On SQLite nobody begins beside another.
    """

    def run() -> None:
        try:
            theirs()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Account.objects.select_for_update().get(pk=account.pk)
            done = pool.submit(run)
            wait_for_lock_waiter(done)
            ours()
        done.result()


def wait_for_lock_waiter(other: Future[None]) -> None:
    """Return once the other transaction waits for this one; on SQLite, at once."""
    while connection.vendor == "postgresql" and not other.done():
        with connection.cursor() as cursor:
            cursor.execute(LOCK_WAITER_SQL)
            if cursor.fetchone():
                return
        Event().wait(0.02)
