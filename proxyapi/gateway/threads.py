"""Run synchronous code, such as queries, in a bounded number of threads, so that a request that
waits for something else has none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS = 32
_threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="gateway")


async def in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    call = partial(_call, partial(function, *args, **named))
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


def _call(function: Callable[[], Any]) -> Any:
    release_connections()
    try:
        return function()
    finally:
        release_connections()


def release_connections() -> None:
    """Give the thread's connections back to their pool. SQLite has none, and to open one takes
    longer than the queries of a request, so a thread keeps it unless a query failed."""
    for connection in connections.all(initialized_only=True):
        if connection.vendor != "sqlite" or connection.errors_occurred:
            connection.close_if_unusable_or_obsolete()
