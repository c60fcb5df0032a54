"""Portraits of characters and previews of voices."""

from __future__ import annotations

import io
import sys
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.characters.record import GENRES
from proxyapi.sandbox.media import complexions, films, portraits, samples
from proxyapi.sandbox.media.portraits import Portrait
from proxyapi.sandbox.media.samples import Sample


def photo(folder: Path, clothes: tuple[int, int, int]) -> str:
    """A face on grey, in clothes of a colour."""
    picture = Image.new("RGB", (120, 160), (150, 150, 152))
    picture.paste((60, 40, 30), (35, 10, 85, 45))
    picture.paste((214, 160, 120), (40, 40, 80, 95))
    picture.paste(clothes, (15, 110, 105, 160))
    picture.save(folder / "photo.jpg")
    return "photo.jpg"


def drawn(folder: Path, **wanted: object) -> np.ndarray:
    path = folder / "face.png"
    portraits.make_portrait(Portrait(**{"seed": 4, **wanted}), path)  # type: ignore[arg-type]
    return np.asarray(Image.open(path).convert("RGB"), np.int32)


def test_every_genre_of_characters_has_a_hand() -> None:
    assert {genre.hand for genre in GENRES} <= set(films.GENRES)
    assert len({genre.id for genre in GENRES}) == len(GENRES) >= 6


def test_a_portrait_is_a_png_and_the_same_each_time(tmp_path: Path) -> None:
    first = drawn(tmp_path)
    assert (tmp_path / "face.png").read_bytes().startswith(b"\x89PNG")
    assert first.shape == (640, 640, 3)
    assert np.array_equal(first, drawn(tmp_path))
    assert np.abs(first - drawn(tmp_path, seed=5)).mean() > 8
    assert np.abs(first - drawn(tmp_path, genre="noir")).mean() > 8


def test_the_clothes_take_the_colour_of_the_photo(tmp_path: Path) -> None:
    blue = complexions.complexion_of_photo(
        tmp_path / photo(tmp_path, (30, 60, 190)), "cinematic", 1
    )
    red = complexions.complexion_of_photo(tmp_path / photo(tmp_path, (190, 40, 40)), "cinematic", 1)
    assert blue.clothes[2] > red.clothes[2] + 40
    assert red.clothes[0] > blue.clothes[0] + 40
    assert blue.skin == red.skin and blue.hair == red.hair
    pictures = [drawn(tmp_path, photo=photo(tmp_path, it)) for it in ((30, 60, 190), (190, 40, 40))]
    assert np.abs(pictures[0] - pictures[1]).mean() > 4


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n broken", b"\xff\xd8\xff\xe0 broken"])
def test_a_photo_that_cannot_be_read_still_gives_a_face(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "broken.png").write_bytes(data)
    assert drawn(tmp_path, photo="broken.png").std() > 20


def test_without_the_extra_a_portrait_is_a_plain_png(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "proxyapi.sandbox.media.faces", None)
    monkeypatch.delattr("proxyapi.sandbox.media.faces", raising=False)
    assert drawn(tmp_path).shape[2] == 3


def heard(path: Path) -> tuple[float, np.ndarray]:
    with wave.open(io.BytesIO(path.read_bytes())) as file:
        sound = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32_768
        return len(sound) / file.getframerate(), sound


def test_a_cloned_voice_says_its_name_and_speaks_in_its_own_way(tmp_path: Path) -> None:
    path = tmp_path / "voice.wav"
    said = []
    for gender, seed in (("female", 1), ("male", 1), ("female", 2)):
        seconds = samples.make_sample(Sample("Nora {x}", gender, "en", seed), path)
        length, sound = heard(path)
        assert seconds == pytest.approx(length) and 5 < length < 15
        assert 0.5 < np.abs(sound).max() < 0.95
        assert np.abs(sound[:8_000]).max() > 0.05 and np.abs(sound[-9_000:]).max() > 0.01
        said.append(path.read_bytes())
    assert len(set(said)) == 3


def test_without_the_extra_a_voice_hums(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "proxyapi.sandbox.media.speech", None)
    monkeypatch.delattr("proxyapi.sandbox.media.speech", raising=False)
    samples.make_sample(Sample("Nora"), path := tmp_path / "voice.wav")
    length, sound = heard(path)
    assert length == pytest.approx(3, abs=0.1) and np.abs(sound).max() > 0.2


@pytest.mark.parametrize(("gender", "seed"), [("female", 1), ("male", 7), ("female", 90_213)])
def test_a_voice_sounds_like_itself_in_every_language(gender: str, seed: int) -> None:
    from proxyapi.sandbox.media import speech

    spoken = [speech.voice(code, gender, seed) for code in ("en", "de", "es", "fr", "pt")]
    assert len({it.names[0].partition("+")[0] for it in spoken}) == 5
    assert len({(it.names[0].partition("+")[2], it.rate, it.pitch) for it in spoken}) == 1


def test_a_breathing_voice_is_the_same_at_every_time_of_day() -> None:
    """The library takes its chance from the second in which it is started."""
    from proxyapi.sandbox.media import speech

    speaker, said = speech.Voice(("en-us+f3",), 168, 54, 53), []
    for second in (1, 2):
        with speech._library() as library:
            library.espeak_ng_SetRandSeed(second)
            speech._settle(library, speaker)
            said.append(speech._utter(library, "A red fox walks home.").samples)
    assert np.array_equal(said[0], said[1])
