"""Which of the writer's languages a text is in, by the words that its own phrases are made of."""

from __future__ import annotations

import re
from functools import cache

from proxyapi.sandbox.writer.phrase_bank import LANGUAGES

_LONGEST = 5  # letters: articles, prepositions and the like, which tell languages apart
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Its code, such as `es`; `en` for a text that no language fits better."""
    words = _short_words(text)
    others = sorted(path.stem for path in LANGUAGES.glob("*.toml") if path.stem != "en")
    return max(("en", *others), key=lambda code: sum(word in _known(code) for word in words))


@cache
def _known(code: str) -> frozenset[str]:
    text = (LANGUAGES / f"{code}.toml").read_text(encoding="utf-8")
    return frozenset(_short_words(text))


def _short_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if len(word) <= _LONGEST]
