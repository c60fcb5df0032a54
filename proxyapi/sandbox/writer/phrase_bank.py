"""The phrases of one language, read once from `languages/<code>.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
_TRIES = 10
LANGUAGES = Path(__file__).with_name("languages")


@dataclass(frozen=True, slots=True)
class Facet:
    """One thing that can be said about any topic: its name, what to do about it, its lines."""

    name: str
    do: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PhraseBank:
    starters: frozenset[str]
    requests: tuple[str, ...]
    numbers: tuple[str, ...]
    stories: tuple[str, ...]  # sentences with many choices, for scripts that go on for long
    again: tuple[str, ...]  # leads for what was talked about before
    tones: dict[str, dict[str, list[str]]]
    styles: dict[str, dict[str, list[str]]]
    facets: tuple[Facet, ...]

    def say(self, template: str, chance: Random, **values: str) -> str:
        """A sentence: choices made, values put in, its first letter upper case."""
        chosen = _CHOICE.sub(lambda found: chance.choice(found[1].split("|")), template)
        sentence = chosen.format(**values)
        return sentence[:1].upper() + sentence[1:]

    def unused(
        self, templates: Iterable[str], said: set[str], chance: Random, **values: str
    ) -> str | None:
        """What the first template has to say that was not said before, not even in part."""
        for template in templates:
            for _ in range(_TRIES):
                text = self.say(template, chance, **values)
                if said.isdisjoint(sentences := _SENTENCE_END.split(text)):
                    said.update(sentences)
                    return text
        return None

    def order(self, chance: Random) -> list[Facet]:
        """The facets as a script has them: the first first, the last last."""
        first, *middle, last = self.facets
        chance.shuffle(middle)
        return [first, *middle, last]

    def number(self, part: int) -> str:
        return self.numbers[part] if part < len(self.numbers) else str(part + 1)


@cache
def load_bank(language: str) -> PhraseBank:
    with (LANGUAGES / f"{language}.toml").open("rb") as file:
        read = tomllib.load(file)
    return PhraseBank(
        starters=frozenset(read["starters"]),
        requests=tuple(read["requests"]),
        numbers=tuple(read["numbers"]),
        stories=tuple(read["stories"]),
        again=tuple(read["again"]),
        tones=read["tones"],
        styles=read["styles"],
        facets=tuple(Facet(it["name"], it["do"], tuple(it["lines"])) for it in read["facets"]),
    )
