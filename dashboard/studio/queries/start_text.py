"""Read the text of the quick start: is it a topic, a script or a link to a web page?"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from enum import StrEnum

from dashboard.studio.queries.script import script_length

MAX_TOPIC_CHARACTERS = 500
MIN_SCRIPT_SENTENCES = 3  # two sentences are still a topic with a wish
MIN_SENTENCE_WORDS = 2  # one word is an exclamation or an abbreviation
MIN_UNSPACED_CHARACTERS = 5  # a sentence of a language that is written without spaces
MAX_TITLE_CHARACTERS = 80
# With a scheme, or as people type it: `www.example.com`, `example.com/page`.
URL_RE = re.compile(
    r"(?:https?://|www\.)[^\s<>\"]+|\b[\w-]+(?:\.[\w-]+)+/[^\s<>\"]*", re.IGNORECASE
)
# A period after one or two letters ends an abbreviation: "Dr. Who", "U.S. army".
SENTENCE_END_RE = re.compile(
    r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.!?…؟।]+[\"'”’»)\]]*(?=\s)|[。！？｡]+|\n+"
)
# Pasted along with a text, and not seen: byte order mark, zero width spaces, word joiner.
WHITE_SPACE = f"{string.whitespace}\xa0\ufeff\u200b\u2060"


class StartKind(StrEnum):
    TOPIC = "topic"
    SCRIPT = "script"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class StartText:
    """A text and how it is read; `other` is the reading that a person may choose instead."""

    text: str
    kind: StartKind
    other: StartKind | None = None

    @property
    def urls(self) -> list[str]:
        return find_urls(self.text)

    @property
    def url(self) -> str:
        """Return the address of a link, with its scheme."""
        url = self.urls[0]
        return url if "://" in url else f"https://{url}"

    @property
    def title(self) -> str:
        """Return a title for the draft: the first sentence of the text, or the address without its
        scheme."""
        if self.kind == StartKind.LINK:
            return shorten_title(re.sub(r"^https?://(www\.)?", "", self.url).rstrip("/"))
        if self.kind == StartKind.TOPIC:
            return shorten_title(self.text)
        return shorten_title(next(iter(split_sentences(self.text)), self.text))


def read_start_text(text: str, chosen: str = "", *, takes_links: bool = True) -> StartText:
    """Return how the text is read. `chosen` is the reading that a person asked for; it is followed
    where the text allows it. Without `takes_links` an address is part of a topic."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip(WHITE_SPACE)
    allowed = allowed_readings(text, takes_links=takes_links)
    kind = StartKind(chosen) if chosen in allowed else allowed[0]
    return StartText(text, kind, next((other for other in allowed if other != kind), None))


def allowed_readings(text: str, *, takes_links: bool) -> list[StartKind]:
    """Return the readings that the text allows, the most likely one first."""
    urls = find_urls(text) if takes_links else []
    if len(urls) == 1 and urls[0] == text:
        return [StartKind.LINK]
    if len(text) > MAX_TOPIC_CHARACTERS:
        return [StartKind.SCRIPT]
    if len(split_sentences(text)) >= MIN_SCRIPT_SENTENCES:
        return [StartKind.SCRIPT, StartKind.TOPIC]
    if len(urls) == 1:
        return [StartKind.TOPIC, StartKind.LINK]
    return [StartKind.TOPIC, StartKind.SCRIPT] if text else [StartKind.TOPIC]


def find_urls(text: str) -> list[str]:
    return URL_RE.findall(text)


def split_sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text that have several words."""
    pieces = (piece.strip() for piece in SENTENCE_END_RE.split(text))
    return [piece for piece in pieces if is_sentence(piece)]


def is_sentence(piece: str) -> bool:
    words = piece.split()
    is_unspaced = len(words) == 1 and not piece.isascii()
    return len(words) >= MIN_SENTENCE_WORDS or (
        is_unspaced and len(piece) >= MIN_UNSPACED_CHARACTERS
    )


def shorten_title(text: str) -> str:
    """Return one line of at most `MAX_TITLE_CHARACTERS`, cut between words."""
    line = " ".join(text.split())
    if len(line) <= MAX_TITLE_CHARACTERS:
        return line
    cut = line[: MAX_TITLE_CHARACTERS - 1]
    return f"{(cut.rsplit(' ', 1)[0] if ' ' in cut else cut).rstrip(' ,;:')}…"


def start_length_note(start: StartText) -> str:
    """Return the length beside the field: of a topic in characters, of a script in words."""
    match start.kind:
        case StartKind.LINK:
            return "link"
        case StartKind.SCRIPT:
            length = script_length(start.text)
            return f"{length.words:,} of 3,000 words, {length.duration_text}"
    return f"{len(start.text)} of {MAX_TOPIC_CHARACTERS} characters" if start.text else ""
