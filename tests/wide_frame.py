"""One large piece of memory for the frames of all calls of a thread.

Python asks the system for 16 KB each time that a call does not fit into the piece before, and gives
them back when it returns (CPython's issue 142183, mended in late releases of 3.13 and 3.14). A loop
of a template or a query at such a depth does so for each call: 1,400 times a view test, a fifth of
its processor time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, cast

from _pytest import main

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
# Python doubles a piece until the frame fits: 2 MB, of which the calls below have the rest. That is
# more than the limit of recursion lets them fill. What nobody writes to takes no memory.
FRAME_WORDS = 140_000


def use_wide_frames() -> None:
    """From now on pytest, if its session is not started yet, and each new thread has one."""
    main.wrap_session = with_wide_frame(main.wrap_session)
    bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    threading.Thread._bootstrap_inner = with_wide_frame(bootstrap)  # type: ignore[attr-defined]


def with_wide_frame(function: AnyFunction) -> AnyFunction:
    """Return the same function, with a frame of a megabyte."""
    assert isinstance(function, FunctionType)
    code = function.__code__.replace(co_stacksize=FRAME_WORDS)
    names = function.__globals__, function.__name__, function.__defaults__, function.__closure__
    return cast(AnyFunction, FunctionType(code, *names))
