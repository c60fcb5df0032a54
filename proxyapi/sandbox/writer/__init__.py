"""The script writer: a topic in, a script to be narrated out, about 150 words a minute.

    write("why the sea is salty", seconds=60, style="listicle", tone="humorous",
          language="en", chance=Random(7))

Style decides how the script goes on from part to part, tone its opening, its asides and its
end. Words for either that it does not know give an informative, friendly script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from proxyapi.sandbox.writer.phrase_bank import PhraseBank, load_bank
from proxyapi.sandbox.writer.topic import as_clause

WORDS_PER_MINUTE = 150
LEAD_PARTS = 20  # words that ought to follow the opening of a part

CODES = {"english": "en", "spanish": "es", "french": "fr", "german": "de", "portuguese": "pt"}

TONES = {
    "serious": ("professional", "formal", "neutral", "authoritative", "informative"),
    "humorous": ("humor", "humour", "funny", "witty", "playful", "sarcastic", "comic"),
    "inspiring": ("inspirational", "motivational", "uplifting", "hopeful", "optimistic"),
    "dramatic": ("suspense", "suspenseful", "dark", "mysterious", "epic", "scary", "intense"),
    "calm": ("relaxing", "relaxed", "soothing", "gentle", "meditative", "soft"),
    "friendly": ("casual", "conversational", "warm"),
}
STYLES = {
    "storytelling": ("story", "narrative", "fairy", "anecdote", "biography", "documentary"),
    "listicle": ("list", "top", "countdown", "ranking", "facts"),
    "tutorial": ("how", "howto", "guide", "educational", "instructional", "step", "lesson"),
    "informative": ("explainer", "news"),
}


def language_code(name: str) -> str | None:
    """`en` for `English`, `en` or `en-US`; None for a language the writer does not know."""
    word = name.strip().lower()
    code = CODES.get(word, word.replace("_", "-").partition("-")[0])
    return code if code in CODES.values() else None


def write(topic: str, *, seconds: int, style: str, tone: str, language: str, chance: Random) -> str:
    """Paragraphs parted by empty lines, within a sentence of the length asked for; of a topic that
    is longer than that, one sentence and the close."""
    phrases = load_bank(language)
    chosen_tone = phrases.tones[match_option(tone, TONES, "friendly")]
    clause = as_clause(topic, phrases.starters, phrases.requests)
    close = phrases.say(chance.choice(chosen_tone["closes"]), chance, topic=clause)
    room = seconds * WORDS_PER_MINUTE // 60 - _words(close)
    chosen_style = match_option(style, STYLES, "informative")
    paragraphs: list[list[str]] = []
    said = {close}
    script = _sentences(phrases, chosen_tone, chosen_style, clause, seconds, said, chance)
    for opens, sentence in script:
        needed = _words(sentence) + (LEAD_PARTS if opens and paragraphs else 0)
        if paragraphs and needed > 2 * room:
            break
        if opens:
            paragraphs.append([])
        paragraphs[-1].append(sentence)
        room -= _words(sentence)
        if room <= 0:
            break
    for aside in chosen_tone["asides"]:
        if room > _words(aside) and (fresh := phrases.unused([aside], said, chance)):
            paragraphs[-1].append(fresh)
            room -= _words(aside)
    return "\n\n".join([*(" ".join(part) for part in paragraphs), close])


def match_option(wish: str, table: dict[str, tuple[str, ...]], otherwise: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in wish.lower()).split()
    for name, synonyms in table.items():
        if any(word == name or word in synonyms for word in words):
            return name
    return otherwise


def _sentences(
    phrases: PhraseBank,
    tone: dict[str, list[str]],
    style_name: str,
    topic: str,
    seconds: int,
    said: set[str],
    chance: Random,
) -> Iterator[tuple[bool, str]]:
    """The endless script: each sentence, and whether it opens a paragraph; none comes twice."""
    style = phrases.styles[style_name]
    yield True, phrases.say(chance.choice(tone["hooks"]), chance, topic=topic)
    yield False, phrases.say(chance.choice(style["intros"]), chance, topic=topic)
    asides = [*tone["asides"], *style.get("asides", [])]
    lines_each = 2 if seconds <= 60 else 3 if seconds <= 180 else 5
    part = told = 0
    while True:
        for facet in phrases.order(chance):
            values = {"name": facet.name, "do": facet.do, "topic": topic}
            values["number"] = phrases.number(part)
            leads = _leads(phrases, style["leads"], part)
            if lead := phrases.unused(leads, said, chance, **values):
                yield True, lead
            for line in facet.lines[:lines_each]:
                # What has been said in all its ways makes room for a story.
                old_or_new = [line, *_rotated(phrases.stories, told)]
                if sentence := phrases.unused(old_or_new, said, chance, **values):
                    told += 1
                    yield False, sentence
            aside = phrases.unused(asides, said, chance) if part % 2 and seconds > 30 else None
            if aside:
                yield False, aside
            part += 1


def _leads(phrases: PhraseBank, leads: list[str], part: int) -> list[str]:
    """Leads in the order in which they suit a part; the first one of a style only begins."""
    if not part or "{number}" in leads[0]:
        return [leads[part % len(leads)], *leads]
    return [*_rotated(leads[1:], part), *_rotated(phrases.again, part)]


def _rotated(templates: Sequence[str], by: int) -> list[str]:
    """The templates beginning with another one each time."""
    turn = by % len(templates)
    return [*templates[turn:], *templates[:turn]]


def _words(text: str) -> int:
    return len(text.split())
