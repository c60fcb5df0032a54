"""Duration classes: renders of one type or engine and of about one length are compared."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

# Upper ends in seconds: the lengths that clips and scripts have (spec, Limits), and the longest.
LENGTH_CLASSES_S = (5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1200)
WORDS_PER_SECOND = 2.5  # calm narration, 150 words a minute
# Scripts without spaces between words, and their characters in the time of one English word:
# Chinese and Japanese; Thai, Lao, Burmese and Khmer. static/js/word_count.js counts the same way.
UNSPACED_SCRIPTS = (
    (
        re.compile(
            "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
            "\uf900-\ufaff\U00020000-\U0003ffff]"
        ),
        2,
    ),
    (re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]"), 5),
)


class DurationClass(NamedTuple):
    subtype: str  # type or engine, as sent; empty if the kind has none
    length: int  # upper end of the class of requested lengths, in seconds; 0: unknown


def duration_class_of(chosen: Mapping[str, Any]) -> DurationClass:
    """The class of a job by its settings. Never raises: odd settings have none."""
    named = next((chosen[name] for name in ("type", "model", "engine") if name in chosen), "")
    seconds, script = chosen.get("duration"), chosen.get("script")
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        words = count_words(script) if isinstance(script, str) else 0
        seconds = words / WORDS_PER_SECOND
    return DurationClass(named[:60] if isinstance(named, str) else "", length_class_of(seconds))


def count_words(text: str) -> int:
    """The words of a text. A text in a script without spaces counts as as many words as take the
    same time to speak; signs without a letter or digit count nothing."""
    unspaced = 0
    for characters, per_word in UNSPACED_SCRIPTS:
        text, count = characters.subn(" ", text)
        unspaced += -(-count // per_word)
    spaced = sum(any(map(str.isalnum, word)) for word in text.split())
    return spaced + unspaced


def length_class_of(seconds: float) -> int:
    if not seconds > 0:
        return 0
    return LENGTH_CLASSES_S[min(bisect_left(LENGTH_CLASSES_S, seconds), len(LENGTH_CLASSES_S) - 1)]
