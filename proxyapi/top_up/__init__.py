"""Automatic top-up: read the preference, change it, notice what changed without us.

The preference is the account's own and money; a change is asked for as a row and sent by a worker
(`save.py`), so no page waits for the service and none loses it.
"""

from __future__ import annotations

from proxyapi.top_up.inferred import (
    Inferred,
    infer,
    inferred_from,
    is_top_up,
    says_so,
    stopped_by_failures,
    utc_midnight,
)
from proxyapi.top_up.reading import Reading, due, refresh
from proxyapi.top_up.save import ask, save, token_for
from proxyapi.top_up.setting import CREDITS_PER_UNIT, MOST_UNITS, PRESETS, Setting, is_legal

__all__ = [
    "CREDITS_PER_UNIT",
    "MOST_UNITS",
    "PRESETS",
    "Inferred",
    "Reading",
    "Setting",
    "ask",
    "due",
    "infer",
    "inferred_from",
    "is_legal",
    "is_top_up",
    "refresh",
    "save",
    "says_so",
    "stopped_by_failures",
    "token_for",
    "utc_midnight",
]
