"""What is on the frame: captions inside it, scenes that fit the words, every look."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.media import films, reel, scenes
from proxyapi.sandbox.media.captions import Captions, visual_order
from proxyapi.sandbox.media.encode import FRAME_RATE
from proxyapi.sandbox.media.fonts import fitting_typeface
from proxyapi.sandbox.media.settings import SETTINGS
from proxyapi.sandbox.media.storyline import build_storyline
from proxyapi.sandbox.media.subjects import SUBJECTS
from proxyapi.sandbox.media.text_analysis import read_scene, read_theme
from proxyapi.sandbox.media.titles import Titles
from proxyapi.sandbox.media.vocabulary import SETTING_WORDS, SUBJECT_WORDS
from tests.cases import each_case
from tests.sandbox.media.films_on_disk import SMALL, film, pictures

LONG = "Unbelievably long captions wander across extraordinarily narrow frames, " * 3


@pytest.mark.parametrize("position", films.CAPTION_POSITIONS)
@pytest.mark.parametrize("ratio", ["16:9", "9:16", "1:1"])
def test_captions_stay_inside_the_frame(position: str, ratio: str) -> None:
    size = films.frame_size(ratio, 180)
    shown = film(LONG + "Donaudampfschiff" * 6, caption_position=position, aspect_ratio=ratio)
    told = build_storyline(shown, Captions.letters(size))
    captions = Captions(shown, told.phrases, size)
    for number in range(len(told.phrases)):
        left, top, right, bottom = captions.box(number)
        assert left >= 0
        assert top >= 0
        assert right <= size[0]
        assert bottom <= size[1]


@pytest.mark.parametrize("ratio", ["16:9", "9:16", "1:1", "4:5"])
@pytest.mark.parametrize(("position", "corner"), [("top", "top-right"), ("bottom", "bottom-left")])
def test_captions_leave_the_watermark_free(position: str, corner: str, ratio: str) -> None:
    size = films.frame_size(ratio, 360)
    chosen = {"caption_position": position, "watermark": "Northlight", "watermark_position": corner}
    shown = film(LONG, aspect_ratio=ratio, **chosen)
    told = build_storyline(shown, Captions.letters(size))
    captions, mark = Captions(shown, told.phrases, size), Titles(shown, size)
    assert mark.mark is not None
    above = mark._place(mark.mark, min(size) * 0.036)[1]
    below = above + mark.mark.size[1]
    for number in range(len(told.phrases)):
        _, top, _, bottom = captions.box(number)
        assert top + 4 >= below or bottom - 4 <= above


def test_captions_stand_where_they_were_asked_to() -> None:
    size = (256, 144)
    tops = {}
    for position in films.CAPTION_POSITIONS:
        shown = film(caption_position=position)
        tops[position] = Captions(shown, build_storyline(shown, 30).phrases, size).box(0)[1]
    assert tops["top"] < tops["center"] < tops["bottom"]


@pytest.mark.parametrize("effect", films.CAPTION_EFFECTS)
def test_every_caption_effect_draws_something_bright(effect: str) -> None:
    plain = reel.Reel(film(title="", captioned=False), (256, 144))
    shown = reel.Reel(film(title="", caption_effect=effect), (256, 144))
    number = round((shown.story.phrases[0].start + 0.3) * FRAME_RATE)
    without, with_caption = (np.asarray(made.frame(number)[0], int) for made in (plain, shown))
    assert (with_caption - without).max() > 80


@pytest.mark.parametrize("transition", films.TRANSITIONS)
def test_every_transition_shows_both_scenes_in_full_colour(transition: str, tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    films.make_film(
        film("A fox at night. A lighthouse by day. " * 2, transition=transition), path, height=96
    )
    assert all(picture.std() > 5 for picture in pictures(path))


def test_every_genre_has_its_own_style() -> None:
    def draw(genre: str) -> np.ndarray:
        image = scenes.draw_scene("A fox in the forest", genre, 1, (192, 108)).image
        return np.asarray(image, float)

    drawn = {genre: draw(genre) for genre in films.GENRES}
    assert [genre for genre in films.GENRES if not np.array_equal(drawn[genre], draw(genre))] == []
    pairs = combinations(films.GENRES, 2)
    assert [pair for pair in pairs if np.abs(drawn[pair[0]] - drawn[pair[1]]).mean() <= 4] == []


@each_case("subject", SUBJECTS)
def test_every_subject_can_be_seen_in_each_of_its_homes(subject: str) -> None:
    word = SUBJECT_WORDS[subject][0]
    for home in SUBJECTS[subject].homes:
        reading = read_theme(
            "", f"{word} {SETTING_WORDS[home][0] if home in SETTING_WORDS else ''}", 1
        )
        assert SUBJECTS[reading.subject].homes
        picture = scenes.draw_scene(word, "anime", 2, (96, 64), reading)
        assert picture.image.size == picture.near.size == (96, 64)
        assert np.asarray(picture.near).max() == 255


@each_case("setting", SETTINGS)
def test_every_setting_fills_the_picture_upright_too(setting: str) -> None:
    around = read_theme("", SETTING_WORDS.get(setting, ("shapes",))[0], 1)
    picture = scenes.draw_scene("", "cinematic", 5, (64, 112), around)
    assert np.asarray(picture.image.convert("L")).std() > 4


@pytest.mark.parametrize(
    ("text", "setting", "subject"),
    [
        ("Waves beat against the lighthouse.", "sea", "lighthouse"),
        ("Der Fuchs schläft im Wald.", "forest", "fox"),
        ("Une baleine sous la mer", "underwater", "whale"),
        ("El tren cruza la montaña.", "mountains", "train"),
        ("Os polvos e os recifes de coral", "underwater", "fish"),
    ],
)
def test_a_scene_shows_what_its_words_name(text: str, setting: str, subject: str) -> None:
    reading = read_scene(text, 1, read_theme("", text, 1))
    assert (reading.setting, reading.subject) == (setting, subject)


def test_a_scene_that_names_nothing_stays_in_the_film() -> None:
    around = read_theme("How lighthouses survive", "The sea is rough.", 1)
    readings = [read_scene("And so it goes.", seed, around) for seed in range(20)]
    assert {reading.setting for reading in readings} == {"sea"}
    assert {reading.subject for reading in readings} == {"", "lighthouse"}


def test_a_font_that_lacks_letters_gives_way() -> None:
    for slug in films.FONTS:
        typeface = fitting_typeface(slug, "Füchse — “süß”")
        assert "chse" in typeface.drawable("Füchse — “süß”")
    assert fitting_typeface("aileron", "plain words").name == ""
    assert fitting_typeface("aileron", "plain words").drawable("wow 🚀") == "wow "


def test_a_watermark_is_on_every_frame() -> None:
    bare = reel.Reel(film(title="", captioned=False), (256, 144))
    marked = reel.Reel(film(title="", captioned=False, watermark="Northlight"), (256, 144))
    for number in (0, 50):
        plain, shown = (
            np.asarray(Image.Image.copy(made.frame(number)[0]), int) for made in (bare, marked)
        )
        assert np.abs(shown - plain)[: SMALL // 4, 128:].max() > 40


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("The sea is blue", [0, 1, 2, 3]),
        ("البحر أزرق جدا", [2, 1, 0]),
        ("البحر — Blue Planet 2 — أزرق", [6, 5, 2, 3, 4, 1, 0]),
        ("Say שלום לכולם now", [0, 2, 1, 3]),
    ],
)
def test_words_of_a_caption_stand_in_the_direction_of_their_script(
    line: str, order: list[int]
) -> None:
    assert visual_order(line.split()) == order
