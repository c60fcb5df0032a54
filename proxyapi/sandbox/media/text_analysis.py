"""What a text is about, as far as its words tell: setting, subject, hour, weather."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
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
class SceneReading:
    """`subject` and `weather` may be empty."""

    setting: str
    subject: str
    hour: Hour
    weather: str


_QUIET = ("hills", "mountains", "sea", "city", "forest", "shapes", "desert")
# Words for these are said in passing; anything else that is named goes before them.
_WEAK = frozenset(
    {"walker", "friends", "clock", "heart", "chart", "book", "bulb", "world", "house"}
)


def read_theme(title: str, script: str, seed: int) -> SceneReading:
    """What a whole film is about: what is named most, the title counting threefold."""
    words = _words(f"{title} {title} {title} {script}")
    subjects = Counter(_found(words, SUBJECT_WORDS))
    strong = Counter({name: n for name, n in subjects.items() if name not in _WEAK})
    subject = next((name for name, _ in (strong or subjects).most_common(1)), "")
    settings = [name for name, _ in Counter(_found(words, SETTING_WORDS)).most_common()]
    dice = _dice(seed)
    hours = _found(words, HOUR_WORDS)
    hour: Hour = next((name for name in HOURS if name in hours[:1]), _usual_hour(None, dice))
    return SceneReading(_place(subject, settings, dice.choice(_QUIET), dice), subject, hour, "")


def read_scene(text: str, seed: int, around: SceneReading) -> SceneReading:
    """Read the text of one scene; what it leaves open is taken from the film around it."""
    words, dice = _words(text), _dice(seed)
    named = _found(words, SUBJECT_WORDS)
    subject = _chosen(named, around, dice)
    setting = _place(subject, _found(words, SETTING_WORDS), around.setting, dice)
    if not subject and around.subject and dice.random() < 0.6:
        # A scene that names nothing shows the film's subject again, where it can be.
        subject = around.subject if setting in SUBJECTS[around.subject].homes else ""
    hours = _found(words, HOUR_WORDS)
    hour: Hour = next((name for name in HOURS if name in hours[:1]), _usual_hour(around, dice))
    weather = _found(words, WEATHER_WORDS)
    return SceneReading(setting, subject, hour, weather[0] if weather else "")


def _chosen(named: list[str], around: SceneReading, dice: random.Random) -> str:
    strong = [name for name in named if name not in _WEAK and name != around.subject]
    if around.subject in named and not (strong and dice.random() < 0.7):
        return around.subject
    if strong:
        return strong[0]
    if named and around.subject and dice.random() < 0.4:
        return around.subject
    return named[0] if named else ""


def _place(subject: str, settings: list[str], usual: str, dice: random.Random) -> str:
    """The first setting named in which the subject can be, else one that suits."""
    if not subject:
        return settings[0] if settings else usual
    homes = SUBJECTS[subject].homes
    return next((name for name in [*settings, usual] if name in homes), dice.choice(homes))


def _usual_hour(around: SceneReading | None, dice: random.Random) -> Hour:
    if around and dice.random() < 0.6:
        return around.hour
    return dice.choice(("day", "dusk", "dusk", "night"))


def _dice(seed: int) -> random.Random:
    return random.Random(f"reading/{seed}")  # noqa: S311  # taste, not a secret


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.lower())
    return re.findall(r"[^\W\d_]+", "".join(c for c in plain if not unicodedata.combining(c)))


def _found(words: list[str], vocabulary: dict[str, tuple[str, ...]]) -> list[str]:
    """Names whose stems begin a word of the text, in the order of the text."""
    return [
        name
        for word in words
        for name, stems in vocabulary.items()
        if any(_begins(word, stem) for stem in stems)
    ]


def _begins(word: str, stem: str) -> bool:
    """Short stems must be the whole word (or its plural), long ones may begin it."""
    if len(stem) < 5:
        return word in (stem, stem + "s", stem + "es")
    return word.startswith(stem)
