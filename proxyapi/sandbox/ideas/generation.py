"""What a search finds: titles that say something, a hook each, and how often they are wanted.

The same keyword on the same network always finds the same ideas, best first. A keyword without
letters or made of consonants finds nothing.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from random import Random
from typing import NamedTuple

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_PHRASES = Path(__file__).with_name("phrases.toml")


class Idea(NamedTuple):
    title: str
    hook: str
    format: str
    volume: int  # searches a month
    competition: str  # low, medium, high


def normalize_keyword(keyword: str) -> str:
    """The keyword as searches are told apart: spaces and capitals do not count."""
    return " ".join(keyword.split()).casefold()


def is_gibberish(keyword: str) -> bool:
    words = re.findall(r"[^\W\d_]+", keyword)
    return not words or all(
        len(word) > 3 and word.isascii() and not re.search("[aeiouy]", word.lower())
        for word in words
    )


@lru_cache(maxsize=512)
def find_ideas(keyword: str, network: str, count: int) -> tuple[Idea, ...]:
    """Ideas by falling volume; `count` is at most the number of phrases."""
    # Not for cryptography: the same keyword must find the same ideas again.
    chance = Random(f"ideas/{network}/{normalize_keyword(keyword)}")  # noqa: S311
    shown = " ".join(keyword.split())
    wanted = chance.sample(_phrases(), min(count, len(_phrases())))
    volume = 10 ** chance.uniform(3.3, 5.2)
    found = []
    for phrase in wanted:
        volume *= chance.uniform(0.72, 0.95)
        number = chance.choice(("3", "5", "7", "9", "10", "12"))
        found.append(
            Idea(
                _fill_phrase(phrase["title"], shown, number, chance),
                _fill_phrase(phrase["hook"], shown, number, chance),
                phrase["format"],
                max(10, round(volume / 10) * 10),
                chance.choices(("low", "medium", "high"), (3, 4, 2))[0],
            )
        )
    return tuple(found)


@cache
def _phrases() -> list[dict[str, str]]:
    with _PHRASES.open("rb") as file:
        phrases: list[dict[str, str]] = tomllib.load(file)["ideas"]
    return phrases


def _fill_phrase(phrase: str, keyword: str, number: str, chance: Random) -> str:
    """Choices first, so that nothing in the keyword is taken for one."""
    chosen = _CHOICE.sub(lambda found: chance.choice(found[1].split("|")), phrase)
    values = {"k": keyword, "K": keyword[:1].upper() + keyword[1:], "n": number}
    return re.sub(r"\{(\w)\}", lambda found: values[found[1]], chosen)
