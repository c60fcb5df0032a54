"""How long a script is to speak, in words: scripts without spaces between words are counted by
their characters, as many as take the time of one word."""

from __future__ import annotations

import re

# Chinese and Japanese; Thai, Lao, Burmese and Khmer
_UNSPACED = (
    (
        re.compile(
            "[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
            "\uf900-\ufaff\U00020000-\U0003ffff]"
        ),
        2,
    ),
    (re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff]"), 5),
)


def count_spoken_words(text: str) -> int:
    """The words of a text, or as many as take the same time to speak."""
    unspaced = 0
    for characters, per_word in _UNSPACED:
        text, count = characters.subn(" ", text)
        unspaced += -(-count // per_word)
    return unspaced + sum(any(map(str.isalnum, word)) for word in text.split())
