"""Release what a streamed response must not hold: database connections, and the request's
thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async
from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


def release_connections() -> None:
    """Close this thread's connections (with a pool: return them). The next query opens one again.

    Django closes them when a response ends, but a stream ends only after minutes. A connection in a
    transaction stays open.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def release_request_thread() -> None:
    """End the thread that ran this request's synchronous middleware; a new one starts if needed.

    Under ASGI each request keeps its own thread until its response ends: 1,000 streams would keep
    1,000 threads of 256 KB each.
    """
    context = SyncToAsync.thread_sensitive_context.get(None)
    if context is not None:
        executor = SyncToAsync.context_to_thread_executor.pop(context, None)
        if executor is not None:
            executor.shutdown(wait=False)


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run database work in a thread, and release its connections afterwards."""

    def run() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            release_connections()

    return await sync_to_async(run, thread_sensitive=False)()
