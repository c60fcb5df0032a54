"""Narration by espeak-ng, loaded into this process; sentences in, samples and word times out.

The library keeps global state and is not thread-safe: every call runs under one lock, in a
library of its own, and sets every parameter it depends on.
"""

from __future__ import annotations

import _ctypes
import contextlib
import ctypes
import functools
import random
import re
import tempfile
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import espeakng_loader
import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

SPEECH_RATE = 22_050
_LONGEST_DATA_PATH = 140  # the library copies its data path into a buffer of 160 characters
_RETRIEVAL, _UTF8, _CHARACTERS = 1, 1, 1
_RATE, _VOLUME, _PITCH, _RANGE, _WORDGAP = 1, 2, 3, 4, 7
_WORD_EVENT, _LAST_EVENT = 1, 0

_FEMALE = ("f1", "f2", "f3", "f4", "f5", "Annie", "Alicia", "steph", "linda", "belinda")
_MALE = ("m1", "m2", "m3", "m4", "m7", "Andy", "Michael", "Lee", "ian", "edward")
_ACCENTS = {
    "en": ("en-us", "en-gb", "en-gb-x-rp", "en-us", "en-gb-scotland"),
    "fr": ("fr-fr", "fr-fr", "fr-be", "fr-ch"),
    "es": ("es", "es-419"),
    "pt": ("pt-br", "pt"),
    "zh": ("cmn",),
    "nb": ("nb",),
}

# Languages by the script of their letters, as Unicode names it; the first one reads it to others.
_LANGUAGES_OF_SCRIPT = {
    "ARABIC": ("ar", "fa", "ur", "ps", "sd", "ug"),
    "BENGALI": ("bn", "as"),
    "CJK": ("cmn", "zh", "yue", "ja"),
    "CYRILLIC": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "ky", "mn", "tt"),
    "DEVANAGARI": ("hi", "mr", "ne", "kok"),
    "GREEK": ("el", "grc"),
    "HANGUL": ("ko",),
    "HEBREW": ("he", "yi"),
    "HIRAGANA": ("ja",),
    "KATAKANA": ("ja",),
    "TAMIL": ("ta",),
    "THAI": ("th",),
}


class _Id(ctypes.Union):
    _fields_ = [
        ("number", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("string", ctypes.c_char * 8),
    ]


class _Event(ctypes.Structure):
    _fields_ = [
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", _Id),
    ]


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Voice:
    """One speaker: names of voices to try in turn, rate in words/min, pitch and range 0-100."""

    names: tuple[str, ...]
    rate: int
    pitch: int
    range: int


@dataclass(frozen=True, slots=True)
class Word:
    """A written word and when it is heard, in seconds."""

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Utterance:
    """One sentence spoken: mono samples at SPEECH_RATE, without silence at either end."""

    samples: Samples
    words: tuple[Word, ...]

    @property
    def seconds(self) -> float:
        return len(self.samples) / SPEECH_RATE


def voice(language: str, gender: str, seed: int) -> Voice:
    """The same arguments always give the same speaker."""
    dice = random.Random(f"{gender}/{seed}")  # noqa: S311  # a choice of voice, not a secret
    female = gender.lower().startswith("f")
    code = language.lower().replace("_", "-") or "en"
    base = code.split("-")[0]
    accents = (code,) if "-" in code else _ACCENTS.get(base, (base,))
    # Chance of its own: the same speaker in another language sounds like herself.
    accent = random.Random(f"home/{seed}").choice(accents)  # noqa: S311
    variant = dice.choice(_FEMALE if female else _MALE)
    return Voice(
        names=(f"{accent}+{variant}", f"{base}+{variant}", base, f"en-us+{variant}"),
        rate=dice.randint(158, 182),
        pitch=dice.randint(48, 68) if female else dice.randint(26, 46),
        range=dice.randint(48, 64),
    )


def speak(sentences: Sequence[str], speaker: Voice) -> list[Utterance]:
    """Speak every sentence; one without anything to say gives an empty utterance."""
    spoken = []
    with _lock, _library() as library:
        for sentence in sentences:
            _settle(library, _reader_of(sentence, speaker))
            spoken.append(_utter(library, sentence))
    return spoken


def _reader_of(sentence: str, speaker: Voice) -> Voice:
    """The speaker, in a language that has the sentence's letters: a voice of another language would
    spell each of them by its name."""
    variant = speaker.names[0].partition("+")[2]
    language = speaker.names[0].partition("+")[0].partition("-")[0]
    for character in sentence:
        script = unicodedata.name(character, "").partition(" ")[0]
        languages = _LANGUAGES_OF_SCRIPT.get(script, (language,))
        if language not in languages:
            return replace(speaker, names=(f"{languages[0]}+{variant}", *speaker.names))
    return speaker


@contextlib.contextmanager
def _library() -> Iterator[Any]:
    """The library, loaded anew: it remembers where its tremor was, and would never repeat."""
    library = ctypes.CDLL(espeakng_loader.get_library_path())
    library.espeak_Synth.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    if library.espeak_Initialize(_RETRIEVAL, 200, _data_path().encode(), 0) != SPEECH_RATE:
        raise RuntimeError("The speech library did not start.")
    try:
        yield library
    finally:
        library.espeak_Terminate()
        if unload := getattr(_ctypes, "dlclose", None):
            unload(library._handle)


@functools.cache
def _data_path() -> str:
    path = str(espeakng_loader.get_data_path())
    if len(path) <= _LONGEST_DATA_PATH:
        return path
    link = Path(tempfile.mkdtemp(prefix="espeak-")) / "espeak-ng-data"
    link.symlink_to(path)
    return str(link)


def _settle(library: Any, speaker: Voice) -> None:
    for name in speaker.names:
        if library.espeak_SetVoiceByName(name.encode()) == 0:
            break
    values = {_RATE: speaker.rate, _VOLUME: 100, _PITCH: speaker.pitch, _RANGE: speaker.range}
    for parameter, value in {**values, _WORDGAP: 0}.items():
        library.espeak_SetParameter(parameter, value, 0)
    library.espeak_ng_SetRandSeed(1)  # else the time of day decides how some of them breathe


def _utter(library: Any, sentence: str) -> Utterance:
    chunks: list[bytes] = []
    marks: list[tuple[int, float]] = []
    library.espeak_SetSynthCallback(keep := _listener(chunks, marks))
    text = sentence.replace("\0", " ").encode("utf-8", "ignore")
    library.espeak_Synth(text, len(text) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    del keep  # the library holds a bare pointer to it until here
    heard = np.frombuffer(b"".join(chunks), np.int16).astype(np.float32)
    heard /= np.float32(32768)
    first, last = _audible(heard)
    samples = heard[first:last]
    shift, length = first / SPEECH_RATE, len(samples) / SPEECH_RATE
    return Utterance(samples, _words(sentence, marks, shift, length))


def _listener(chunks: list[bytes], marks: list[tuple[int, float]]) -> Callable[..., int]:
    def listen(wav: Any, count: int, events: Any) -> int:
        if count > 0 and wav:
            chunks.append(ctypes.string_at(wav, count * 2))
        index = 0
        while events and events[index].type != _LAST_EVENT:
            event = events[index]
            if event.type == _WORD_EVENT:
                marks.append((event.text_position - 1, event.audio_position / 1000))
            index += 1
        return 0

    return _Callback(listen)


def _audible(samples: Samples) -> tuple[int, int]:
    loud = np.flatnonzero(np.abs(samples) > 0.012)
    if not len(loud):
        return 0, 0
    margin = SPEECH_RATE // 50
    return max(0, int(loud[0]) - margin), min(len(samples), int(loud[-1]) + 2 * margin)


def _words(
    sentence: str, marks: list[tuple[int, float]], shift: float, length: float
) -> tuple[Word, ...]:
    """Written words take the time of the first event inside them, else they share a gap."""
    found = [(m.start(), m.end(), m.group()) for m in re.finditer(r"\S+", sentence)]
    starts: list[float | None] = []
    for begin, end, _ in found:
        heard = [at - shift for position, at in marks if begin <= position < end]
        starts.append(min(max(min(heard), 0.0), length) if heard else None)
    times = _without_gaps(starts, length)
    return tuple(
        Word(text, times[n], max(times[n], times[n + 1])) for n, (_, _, text) in enumerate(found)
    )


def _without_gaps(starts: list[float | None], length: float) -> list[float]:
    known = [(n, at) for n, at in enumerate(starts) if at is not None]
    if not known or known[0][0] != 0:
        known.insert(0, (0, 0.0))
    known.append((len(starts), length))
    places, times = zip(*known, strict=True)
    filled = np.interp(np.arange(len(starts) + 1), places, times)
    return [float(at) for at in np.maximum.accumulate(filled)]
