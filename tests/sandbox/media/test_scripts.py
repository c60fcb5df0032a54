"""Scripts as people write them: empty, endless words, other alphabets."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from proxyapi.models.duration_class import WORDS_PER_SECOND, count_words
from proxyapi.sandbox.media import films
from proxyapi.sandbox.media.speech import speak, voice
from proxyapi.sandbox.media.storyline import LEAD_S, TAIL_S, build_storyline
from tests.sandbox.media.films_on_disk import SMALL, film, pictures

SCRIPTS = {
    "nothing at all": "",
    "only signs": "… — !!! 🚀",
    "one endless word": "Rindfleischetikettierung" * 12,
    "umlauts": "Größe zählt für Füchse: süß, übermütig, weiß.",
    "Cyrillic": "Лиса идёт домой. Ночь тиха.",
    "Chinese": "狐狸回家了。月亮很亮。",
    "right to left": "ذهب الثعلب إلى البيت",
    "markup": "<speak>Say & <b>nothing</b></speak> [[h@l'oU]] \x00 %s",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS.keys())
def test_any_script_becomes_a_film(script: str, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    assert films.make_film(film(script), path, height=SMALL) > 0.5
    assert pictures(path)[-1].std() > 5


@pytest.mark.parametrize("name", ["Cyrillic", "Chinese", "right to left"])
def test_a_voice_of_another_language_reads_words_and_spells_no_letters(name: str) -> None:
    words = count_words(SCRIPTS[name])
    seconds = build_storyline(film(SCRIPTS[name], language="en"), 30).seconds
    assert seconds < 2 * words / WORDS_PER_SECOND + LEAD_S + TAIL_S


def test_an_empty_script_shows_its_title() -> None:
    assert [
        word.text for phrase in build_storyline(film(""), 30).phrases for word in phrase.words
    ] == [
        "A",
        "fox",
    ]


def test_without_script_and_title_there_is_a_short_film() -> None:
    told = build_storyline(film("", title=""), 30)
    assert told.seconds == 3.0
    assert len(told.scenes) == 1


def test_words_are_heard_in_order_and_inside_the_film() -> None:
    told = build_storyline(film("In 1998, 3 foxes — all red — ran 12.5 km to St. Ives."), 24)
    words = [word for phrase in told.phrases for word in phrase.words]
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert starts[0] >= 0
    assert words[-1].end <= told.seconds
    assert all(
        after.start >= before.end - 1e-6 for before, after in itertools.pairwise(told.phrases)
    )


def test_a_word_is_shown_when_it_is_heard() -> None:
    """The only sound of the second sentence begins where its caption begins."""
    told = build_storyline(film("Fox. Moon.", volume="off"), 24)
    starts = [at for at, _ in told.speech]
    assert [phrase.start for phrase in told.phrases] == pytest.approx(starts, abs=0.06)


def test_scenes_follow_each_other_without_a_gap() -> None:
    told = build_storyline(film("The fox went out. " * 12), 24)
    assert len(told.scenes) >= 3
    assert all(before.end == after.start for before, after in itertools.pairwise(told.scenes))
    assert told.scenes[-1].end == told.seconds


def test_voices_differ_by_seed_gender_and_language() -> None:
    text = "Die Welle ist taller than la tour."
    said = {
        name: speak([text], voice(*name))[0].samples
        for name in (("en", "female", 1), ("en", "female", 2), ("en", "male", 1), ("de", "male", 1))
    }
    assert len({len(samples) for samples in said.values()}) == 4
    assert _pitch(said["en", "female", 1]) > 1.2 * _pitch(said["en", "male", 1])


def test_the_same_voice_says_the_same_again() -> None:
    first, second = (speak(["Hello, fox."], voice("fr", "male", 5))[0] for _ in range(2))
    assert np.array_equal(first.samples, second.samples)


def _pitch(samples: np.ndarray) -> float:
    """The strongest repetition between 60 and 260 Hz, in Hz."""
    spectrum = np.fft.rfft(samples, 2 * len(samples))
    alike = np.fft.irfft(np.abs(spectrum) ** 2)[: 22_050 // 60]
    return 22_050 / (22_050 // 260 + int(alike[22_050 // 260 :].argmax()))
