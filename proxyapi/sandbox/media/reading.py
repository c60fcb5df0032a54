"""What a text is about, as far as its words tell: setting, subject, hour, weather."""

from __future__ import annotations

import random
import re
import unicodedata
from dataclasses import dataclass

from proxyapi.sandbox.media.palettes import HOURS, Hour
from proxyapi.sandbox.media.subjects import SUBJECTS
from proxyapi.sandbox.media.vocabulary import (
    HOUR_WORDS,
    SETTING_WORDS,
    SUBJECT_WORDS,
    WEATHER_WORDS,
)


@dataclass(frozen=True, slots=True)
class Reading:
    """`subject` and `weather` may be empty."""

    setting: str
    subject: str
    hour: Hour
    weather: str


_QUIET = ("hills", "mountains", "sea", "city", "forest", "shapes", "room", "desert")


def read(text: str, seed: int, around: Reading | None = None) -> Reading:
    """Read a text; what it leaves open is taken from `around`, then from the seed."""
    words = _words(text)
    dice = random.Random(f"reading/{seed}/{len(words)}")  # noqa: S311  # taste, not a secret
    subjects = _found(words, SUBJECT_WORDS)
    settings = _found(words, SETTING_WORDS)
    subject = subjects[0] if subjects else ""
    setting = _place(subject, settings, around, dice)
    if not subject and around and around.subject and dice.random() < 0.6:
        # A scene that names nothing shows the film's subject again, where it can be.
        subject = around.subject if setting in SUBJECTS[around.subject].homes else ""
    hours = _found(words, HOUR_WORDS)
    hour: Hour = next((name for name in HOURS if name in hours[:1]), _hour(around, dice))
    weather = _found(words, WEATHER_WORDS)
    return Reading(setting, subject, hour, weather[0] if weather else "")


def _place(subject: str, settings: list[str], around: Reading | None, dice: random.Random) -> str:
    """The first setting named in which the subject can be, else one that suits."""
    usual = around.setting if around else dice.choice(_QUIET)
    if not subject:
        return settings[0] if settings else usual
    homes = SUBJECTS[subject].homes
    return next((name for name in [*settings, usual] if name in homes), dice.choice(homes))


def _hour(around: Reading | None, dice: random.Random) -> Hour:
    if around and dice.random() < 0.6:
        return around.hour
    return dice.choice(("day", "dusk", "dusk", "night"))


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.lower())
    return re.findall(r"[^\W\d_]+", "".join(c for c in plain if not unicodedata.combining(c)))


def _found(words: list[str], vocabulary: dict[str, tuple[str, ...]]) -> list[str]:
    """Names whose stems begin a word of the text, in the order of the text."""
    found = []
    for word in words:
        for name, stems in vocabulary.items():
            if any(_begins(word, stem) for stem in stems):
                found.append(name)
    return found


def _begins(word: str, stem: str) -> bool:
    """Short stems must be the whole word (or its plural), long ones may begin it."""
    if len(stem) < 5:
        return word in (stem, stem + "s", stem + "es")
    return word.startswith(stem)
