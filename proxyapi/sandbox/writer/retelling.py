"""Scripts from a web page: its own sentences, told in the tone that was asked for.

A page in another language than the script's gives only its title; what a short page leaves
open is filled by the writer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from proxyapi.sandbox.scraping.page import WebPage
from proxyapi.sandbox.writer import TONES, WORDS_PER_MINUTE, match_option, write
from proxyapi.sandbox.writer.phrase_bank import load_bank
from proxyapi.sandbox.writer.topic import as_clause

_SENTENCE = re.compile(r"(?<=[.!?…])[\"”»]?\s+")
_FEW_WORDS = 20  # fewer than these are not worth another paragraph


def retell(
    page: WebPage, *, seconds: int, style: str, tone: str, language: str, chance: Random
) -> str:
    """Paragraphs parted by empty lines, within a sentence of the length asked for."""
    asked = {"style": style, "tone": tone, "language": language, "chance": chance}
    if page.language != language or not page.paragraphs:
        return write(page.title, seconds=seconds, **asked)  # type: ignore[arg-type]
    phrases = load_bank(language)
    chosen = phrases.tones[match_option(tone, TONES, "friendly")]
    topic = as_clause(page.title, phrases.starters, phrases.requests)
    hook = phrases.say(chance.choice(chosen["hooks"]), chance, topic=topic)
    close = phrases.say(chance.choice(chosen["closes"]), chance, topic=topic)
    wanted = seconds * WORDS_PER_MINUTE // 60
    told = [hook]
    room = wanted - _words(hook) - _words(close)
    for paragraph in _shortened(page.paragraphs, room):
        told.append(paragraph)
        room -= _words(paragraph)
    if room > _FEW_WORDS:
        more = write(page.title, seconds=(room + 45) * 60 // WORDS_PER_MINUTE, **asked)  # type: ignore[arg-type]
        told += more.split("\n\n")[1:-1] or more.split("\n\n")[:1]
    return "\n\n".join([*told, close])


def _shortened(paragraphs: tuple[str, ...], room: int) -> Iterator[str]:
    """Whole sentences of every paragraph, as many of each as fit in all."""
    total = sum(map(_words, paragraphs)) or 1
    share = min(1.0, room / total)
    budget = 0.0  # what a paragraph does not use goes to the next
    for paragraph in paragraphs:
        budget += _words(paragraph) * share
        taken: list[str] = []
        for sentence in _SENTENCE.split(paragraph):
            if room <= 0 or (taken and budget < _words(sentence) * 0.5):
                break
            if not taken and _words(sentence) > 2 * room:
                break
            taken.append(sentence)
            budget -= _words(sentence)
            room -= _words(sentence)
        if taken:
            yield " ".join(taken)


def _words(text: str) -> int:
    return len(text.split())
