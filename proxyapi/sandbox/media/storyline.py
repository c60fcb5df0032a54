"""When everything happens: sentences, caption phrases and scenes, all in seconds.

A storyline starts and ends with a breath short enough not to sound like silence.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.speech import SPEECH_RATE, Samples, Utterance, Word, speak, voice

LEAD_S, GAP_S, TAIL_S = 0.12, 0.24, 0.24
MIN_FILM_S = 3.0
_SHORTEST_SCENE, _LONGEST_SCENE = 2.4, 7.0
_LONGEST_PHRASE = 2.6
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)]*\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words shown together as one caption, from `start` to `end`."""

    words: tuple[Word, ...]
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture, the words that are heard over it, and when it is seen."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Storyline:
    seconds: float
    scenes: tuple[Scene, ...]
    phrases: tuple[Phrase, ...]
    speech: tuple[tuple[float, Samples], ...]


def build_storyline(film: Film, letters: int) -> Storyline:
    """Lay the film out in time; `letters` is how many fit into one caption."""
    sentences = _sentences(film.script) or _sentences(film.title)
    spoken = _spoken(film, sentences)
    placed, clock = [], LEAD_S
    for utterance in spoken:
        placed.append((clock, utterance))
        clock += utterance.seconds + GAP_S
    heard = clock - GAP_S + TAIL_S if spoken else 0.0
    wanted = film.seconds or (0.0 if film.narrated and spoken else MIN_FILM_S)
    seconds = max(heard if film.narrated else 0.0, wanted)
    words = [_moved(word, at) for at, utterance in placed for word in utterance.words]
    # A silent film of a given length shows its words across all of it.
    if not film.narrated and words:
        words = [_scaled(word, seconds / max(heard, 0.1)) for word in words]
    return Storyline(
        seconds=seconds,
        scenes=_scenes(words, seconds),
        phrases=tuple(_phrases(words, letters, seconds)) if film.captioned else (),
        speech=tuple((at, said.samples) for at, said in placed) if film.narrated else (),
    )


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE.split(text) if re.search(r"\w", part)]


def _spoken(film: Film, sentences: Sequence[str]) -> list[Utterance]:
    speaker = voice(film.language, film.gender, film.voice_seed)
    if film.narrated:
        return [said for said in speak(sentences, speaker) if said.words and said.seconds]
    return [_read_silently(sentence) for sentence in sentences]


def _read_silently(sentence: str) -> Utterance:
    words, clock = [], 0.0
    for text in sentence.split():
        length = 0.12 + 0.05 * len(text)
        words.append(Word(text, clock, clock + length))
        clock += length
    return Utterance(np.zeros(int(clock * SPEECH_RATE), np.float32), tuple(words))


def _moved(word: Word, by: float) -> Word:
    return Word(word.text, word.start + by, word.end + by)


def _scaled(word: Word, by: float) -> Word:
    return Word(word.text, word.start * by, word.end * by)


def _scenes(words: Sequence[Word], seconds: float) -> tuple[Scene, ...]:
    cuts = [0.0]
    for before, word in itertools.pairwise(words):
        length = word.start - cuts[-1]
        ended = bool(re.search(r"[.!?…。！？:;][\"'”’»)]*$", before.text))
        if (ended and length >= _SHORTEST_SCENE) or length >= _LONGEST_SCENE:
            cuts.append(word.start - GAP_S / 3)
    if len(cuts) > 1 and seconds - cuts[-1] < _SHORTEST_SCENE / 2:
        cuts.pop()
    cuts = _without_long_holds([*cuts, seconds])
    return tuple(
        Scene(_heard(words, start, end), start, end) for start, end in itertools.pairwise(cuts)
    )


def _without_long_holds(cuts: Sequence[float]) -> list[float]:
    filled = [cuts[0]]
    for end in cuts[1:]:
        start = filled[-1]
        parts = max(1, math.ceil((end - start) / (_LONGEST_SCENE * 1.4)))
        filled += [start + (end - start) * part / parts for part in range(1, parts + 1)]
    return filled


def _heard(words: Sequence[Word], start: float, end: float) -> str:
    """The words between two times; where nobody speaks, all of them."""
    heard = [word.text for word in words if start <= word.start < end]
    return " ".join(heard or [word.text for word in words])


def _phrases(words: Sequence[Word], letters: int, seconds: float) -> Iterator[Phrase]:
    pieces = [piece for word in words for piece in _pieces(word, letters)]
    groups = [group for clause in _clauses(pieces, letters) for group in _shared(clause, letters)]
    ends = [*(group[0].start for group in groups), seconds][1:]
    for group, after in zip(groups, ends, strict=False):
        yield Phrase(tuple(group), group[0].start, min(after, group[-1].end + 0.5))


def _clauses(words: Sequence[Word], letters: int) -> Iterator[list[Word]]:
    """Up to the end of a sentence, or to a comma after which a new caption is worth it."""
    clause: list[Word] = []
    for word in words:
        clause.append(word)
        length = sum(len(known.text) + 1 for known in clause)
        ended = re.search(r"[.!?…。！？][\"'”’»)]*$", word.text)
        if ended or (re.search(r"[,;:—]$", word.text) and length > letters * 0.45):
            yield clause
            clause = []
    if clause:
        yield clause


def _shared(clause: Sequence[Word], letters: int) -> Iterator[list[Word]]:
    """The clause in captions of about equal length, so that none is left with one word."""
    total = sum(len(word.text) + 1 for word in clause)
    lasts = clause[-1].end - clause[0].start
    parts = max(math.ceil(total / letters), math.ceil(lasts / _LONGEST_PHRASE))
    group: list[Word] = []
    length = 0
    for word in clause:
        shown = length + len(word.text)
        if group and (shown > letters or length + len(word.text) / 2 > total / parts):
            yield group
            group, length = [], 0
        group.append(word)
        length += len(word.text) + 1
    yield group


def _pieces(word: Word, letters: int) -> Iterator[Word]:
    """A word too long for one caption is cut; its time is shared out by letters."""
    parts = [word.text[n : n + letters] for n in range(0, len(word.text), letters)]
    step = (word.end - word.start) / max(1, len(word.text))
    clock = word.start
    for part in parts:
        yield Word(part, clock, clock + step * len(part))
        clock += step * len(part)
