"""Run synchronous code, such as queries, in a bounded number of threads, so that a request that
waits for something else has none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS = 32
_threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="gateway")


async def in_thread(function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    call = partial(_call, partial(function, *args, **named))
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


def _call(function: Callable[[], Any]) -> Any:
    close_old_connections()
    try:
        return function()
    finally:
        close_old_connections()
