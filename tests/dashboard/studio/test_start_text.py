"""The quick start field reads what it gets: a topic, a script or a link."""

from __future__ import annotations

import pytest

from dashboard.studio.queries.start_text import (
    MAX_TITLE_CHARACTERS,
    StartKind,
    read_start_text,
    start_length_note,
)
from tests.cases import each_case

TOPIC, SCRIPT, LINK = StartKind.TOPIC, StartKind.SCRIPT, StartKind.LINK
LIGHTHOUSE = (
    "The lamp weighs four tons, and a child could turn it. It floats in a bath of mercury. "
    "On that night the keeper slept."
)


@each_case(
    "text, kind, other",
    [
        ("Why glaciers are blue", TOPIC, SCRIPT),
        ("Top five facts about octopuses. Make it funny for children.", TOPIC, SCRIPT),
        ("How Dr. Who met St. Paul in the U.S. army. A short story.", TOPIC, SCRIPT),
        (LIGHTHOUSE, SCRIPT, TOPIC),
        ("Ice moves slowly downhill\nSnow falls on it\nThe sun melts some of it", SCRIPT, TOPIC),
        ("氷はなぜ青いのですか", TOPIC, SCRIPT),
        ("氷河は静かに見えます。しかし動いています。毎年雪が積もります。", SCRIPT, TOPIC),
        ("لماذا البحر أزرق؟", TOPIC, SCRIPT),
        ("الجليد يتحرك ببطء شديد. الثلج يسقط كل شتاء. الشمس تذيب بعضه.", SCRIPT, TOPIC),
        ("https://fjordreise.example/journal/winter-week-north", LINK, None),
        ("HTTP://Example.com", LINK, None),
        ("www.example.com", LINK, None),
        ("example.com/journal/winter", LINK, None),
        ("https://bücher.example/käse?a=1#b", LINK, None),
        ("node.js", TOPIC, SCRIPT),
        ("Vegan and/or vegetarian", TOPIC, SCRIPT),
        ("Make a video of https://example.com/a please", TOPIC, LINK),
        ("https://example.com/a https://example.com/b", TOPIC, SCRIPT),
        ("x" * 500, TOPIC, SCRIPT),
        ("x" * 501, SCRIPT, None),
        ("", TOPIC, None),
    ],
)
def test_a_text_is_read_as(text: str, kind: StartKind, other: StartKind | None) -> None:
    start = read_start_text(text)
    assert (start.kind, start.other) == (kind, other)


@pytest.mark.parametrize("invisible", ["\ufeff", "\u200b", "\u2060", " ", "\n"])
def test_invisible_characters_around_a_pasted_link_do_no_harm(invisible: str) -> None:
    start = read_start_text(f"{invisible}https://example.com/a{invisible}")
    assert (start.kind, start.url) == (LINK, "https://example.com/a")


@pytest.mark.parametrize(
    ("text", "chosen", "kind"),
    [
        ("Why glaciers are blue", "script", SCRIPT),
        (LIGHTHOUSE, "topic", TOPIC),
        ("See https://example.com/a for more", "link", LINK),
        ("x" * 501, "topic", SCRIPT),
        ("https://example.com/a", "topic", LINK),
        ("Why glaciers are blue", "link", TOPIC),
        ("Why glaciers are blue", "poem", TOPIC),
    ],
)
def test_the_other_reading_is_taken_where_the_text_allows_it(
    text: str, chosen: str, kind: StartKind
) -> None:
    assert read_start_text(text, chosen).kind == kind


def test_without_a_type_for_web_pages_an_address_is_a_topic() -> None:
    assert read_start_text("https://example.com/a", takes_links=False).kind == TOPIC


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  Why glaciers\nare blue ", "Why glaciers are blue"),
        (LIGHTHOUSE, "The lamp weighs four tons, and a child could turn it"),
        ("https://www.example.com/journal/", "example.com/journal"),
        ("www.example.com/a", "example.com/a"),
        ("氷河は静かに見えます。しかし動いています。毎年雪が積もります。", "氷河は静かに見えます"),
    ],
)
def test_a_draft_is_named_after_its_text(text: str, title: str) -> None:
    assert read_start_text(text).title == title


@pytest.mark.parametrize("text", ["word " * 99, "x" * 499, "氷" * 400])
def test_a_long_title_is_cut(text: str) -> None:
    title = read_start_text(text).title
    assert len(title) <= MAX_TITLE_CHARACTERS
    assert title.endswith("…")
    assert not title.endswith(" …")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Why glaciers are blue", "21 of 500 characters"),
        ("https://example.com", "link"),
        ("word " * 151, "151 of 3,000 words, 60 s"),
        ("", ""),
    ],
)
def test_the_length_is_said_in_the_unit_of_the_reading(text: str, note: str) -> None:
    assert start_length_note(read_start_text(text)) == note
