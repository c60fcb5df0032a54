"""Scripts of any length, in every language: nothing is said twice."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from itertools import product
from random import Random

import pytest

from proxyapi.sandbox.scraping import articles
from proxyapi.sandbox.writer import CODES, STYLES, TONES, write
from proxyapi.sandbox.writer.retelling import retell
from tests.cases import each_case


def dice(name: str) -> Random:
    return Random(name)  # noqa: S311  # taste, not a secret


def said_twice(script: str) -> list[str]:
    counted = Counter(re.split(r"(?<=[.!?…])\s+", script))
    return [sentence for sentence, times in counted.items() if times > 1]


@pytest.mark.parametrize("language", CODES.values())
@pytest.mark.parametrize("seconds", [60, 600, 1200])
def test_no_sentence_comes_twice(language, seconds):
    for style in STYLES:
        for tone in TONES:
            script = write(
                "tides",
                seconds=seconds,
                style=style,
                tone=tone,
                language=language,
                chance=dice(f"{style}{tone}"),
            )
            assert said_twice(script) == []


@each_case("seconds, address", product([30, 60, 180, 300, 600], articles.all_pages()))
def test_a_page_is_rewritten_in_its_own_words_at_the_requested_length(address, seconds):
    page = articles.all_pages()[address]
    script = retell(
        page, seconds=seconds, style="", tone="calm", language=page.language, chance=dice("1")
    )
    assert len(script.split()) == pytest.approx(seconds * 2.5, rel=0.15)
    assert page.paragraphs[0].split(". ")[0] in script
    assert said_twice(script) == []


def test_a_page_in_another_language_gives_its_title():
    page = articles.all_pages()["cocina.example.org/historias/pan-de-madrugada"]
    script = retell(page, seconds=60, style="", tone="", language="en", chance=dice("1"))
    assert page.title in script
    assert page.paragraphs[0] not in script


@pytest.mark.parametrize("seconds", [30, 60, 180])
@pytest.mark.parametrize("language", CODES.values())
def test_a_topic_of_any_length_has_a_script_before_its_close(language, seconds):
    for tone, words in itertools.product(TONES, range(1, 121)):
        script = write(
            " ".join(["ebb"] * words),
            seconds=seconds,
            style=[*STYLES][words % len(STYLES)],
            tone=tone,
            language=language,
            chance=dice(f"{tone}{words}"),
        )
        *told, close = script.split("\n\n")
        assert told and all(told) and close, (tone, words)
