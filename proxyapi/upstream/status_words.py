"""What a status word means in plain English. The specification lists few of them ("not shown"), so
any word may come.

Contract: pure; every function accepts any value and raises nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

MAX_STATUS_CHARS = 60
# Parts of a word as in "sync-failed", "timed_out", "modelTrainingFailed" or "RENDER ERROR".
WORD_PART_RE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
FAILURE_PART_RE = re.compile(
    r"fail(s|ed|ure|ures)?|err|errors?|errored|timeouts?|timedout|cancel(s|led|ed|lation)?"
    r"|expire[ds]?|expiry|expiration|rejects?|rejected|rejection|abort(s|ed|ion)?|decline[ds]?"
    r"|denied|refused?|refusal|invalid|unsuccessful|crash(ed)?|killed|terminated|unprocessable"
)
# Beside one of these, the word speaks of a failure that is over, or only possible.
NO_FAILURE_PARTS = frozenset(
    [
        "no",
        "not",
        "non",
        "without",
        "never",
        "after",
        "until",
        "pending",
        "awaiting",
        "retry",
        "retries",
        "retrying",
        "retried",
        "recover",
        "recovering",
        "recovered",
        "resume",
        "resuming",
        "resumed",
        "restarting",
        "restarted",
    ]
)
IN_PROGRESS_PARTS = frozenset(
    ["draft", "new", "created", "accepted", "submitted", "scheduled", "queued", "started"]
)


def status_word(value: Any) -> str:
    """The word to store and show, at most `MAX_STATUS_CHARS`; empty for what is no text."""
    return value[:MAX_STATUS_CHARS] if isinstance(value, str) else ""


def says_failure(value: Any) -> bool:
    """Whether an English reader would call this word an end without a result."""
    parts = [part.lower() for part in WORD_PART_RE.findall(status_word(value))]
    if not NO_FAILURE_PARTS.isdisjoint(parts):
        return False
    is_timed_out = any(pair in {("timed", "out"), ("time", "out")} for pair in pairwise(parts))
    return is_timed_out or any(FAILURE_PART_RE.fullmatch(part) for part in parts)


def says_in_progress(value: Any) -> bool:
    """Whether it says that work goes on or waits its turn, as "rendering" and "queued" do."""
    parts = [part.lower() for part in WORD_PART_RE.findall(status_word(value))]
    return any(part.endswith("ing") or part in IN_PROGRESS_PARTS for part in parts)
