"""What a long answer must not hold: database connections, and the thread they were used in."""

from __future__ import annotations

from asgiref.sync import SyncToAsync
from django.db import connections


def release_connections() -> None:
    """Close this thread's connections (with a pool: return them). The next query opens one again.

    Django does so when a response ends; a stream ends after minutes. In a transaction it stays.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def release_request_thread() -> None:
    """End the thread this request's synchronous middleware ran in; a new one comes if needed.

    Under ASGI each request keeps a thread of its own until its answer ends: 1,000 streams would
    keep 1,000 threads, a quarter of a megabyte each.
    """
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is not None:
        executor = SyncToAsync.context_to_thread_executor.pop(context, None)
        if executor is not None:
            executor.shutdown(wait=False)
