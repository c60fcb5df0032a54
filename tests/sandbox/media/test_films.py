"""A film on disk: streams, length, ends, sameness."""

from __future__ import annotations

import os
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.media import films, reel
from proxyapi.sandbox.media.storyline import build_storyline
from tests.sandbox.media.films_on_disk import SMALL, film, length, pictures, sound


def test_a_film_is_h264_and_aac_in_an_mp4_whose_index_comes_first(fox_film: Path) -> None:
    with av.open(str(fox_film)) as file:
        video, audio = file.streams.video[0], file.streams.audio[0]
        assert (video.codec_context.name, audio.codec_context.name) == ("h264", "aac")
        assert video.codec_context.pix_fmt == "yuv420p"
        assert (video.width, video.height) == (256, 144)
    start = fox_film.read_bytes()
    assert start.index(b"moov") < start.index(b"mdat")


def test_its_length_is_that_of_the_narration(fox_film: Path) -> None:
    told = build_storyline(film(), 30)
    assert length(fox_film) == pytest.approx(told.seconds, abs=0.1)
    longer = build_storyline(film("A red fox walks home. The moon is up. " * 4), 30)
    assert longer.seconds == pytest.approx(4 * told.seconds, rel=0.15)


def test_a_fixed_length_is_kept_unless_the_narration_is_longer(tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    clip = film("A whale in the sea", narrated=False, captioned=False, seconds=4.0)
    assert films.make_film(clip, path, height=SMALL) == pytest.approx(4.0, abs=0.05)
    assert build_storyline(film("one two three four five six seven", seconds=1.0), 30).seconds > 1.5


def test_neither_end_is_black(fox_film: Path) -> None:
    seen = pictures(fox_film)
    for picture in (seen[0], seen[-1]):
        assert picture.mean() > 20
        assert picture.std() > 10


def test_neither_end_is_silent(fox_film: Path) -> None:
    heard = np.abs(sound(fox_film)).max(axis=0)
    third_of_a_second = 44_100 * 3 // 10
    assert heard[:third_of_a_second].max() > 0.05
    assert heard[-third_of_a_second:].max() > 0.02


def test_nothing_clips_at_full_volume(tmp_path: Path) -> None:
    path = tmp_path / "loud.mp4"
    films.make_film(film(volume="high", genre="synthwave"), path, height=SMALL)
    assert np.abs(sound(path)).max() < 0.99


def test_the_same_film_has_the_same_pictures_and_another_seed_has_others(
    fox_film: Path, tmp_path: Path
) -> None:
    again, other = tmp_path / "again.mp4", tmp_path / "other.mp4"
    films.make_film(film(), again, height=SMALL)
    films.make_film(film(seed=4), other, height=SMALL)
    first, second, third = pictures(fox_film), pictures(again), pictures(other)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(first[20], third[20])


def test_the_picture_moves_from_frame_to_frame() -> None:
    made = reel.Reel(film(title="", captioned=False), (256, 144))
    first, later = (np.asarray(made.frame(number)[0], float) for number in (2, 40))
    assert np.abs(first - later).mean() > 0.3


@pytest.mark.parametrize("ratio", films.ASPECT_RATIOS)
def test_every_aspect_ratio_has_even_sides(ratio: str) -> None:
    width, height = films.frame_size(ratio)
    assert width % 2 == height % 2 == 0
    assert min(width, height) == 720
    across, down = (int(part) for part in ratio.split(":"))
    assert width / height == pytest.approx(across / down, rel=0.01)


def test_nothing_is_left_behind_when_a_film_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burn(*_: object) -> float:
        raise RuntimeError("The film tore.")

    monkeypatch.setattr(reel, "write", burn)
    with pytest.raises(RuntimeError, match="tore"):
        films.make_film(film(), tmp_path / "torn.mp4", height=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_a_still_is_a_picture_of_the_film(tmp_path: Path) -> None:
    path = tmp_path / "fox.jpg"
    films.write_film_still(film(), path, at=99, height=SMALL)
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == ("JPEG", (256, 144))
        assert np.asarray(picture).std() > 10


def test_what_a_killed_maker_left_is_cleared_away(tmp_path: Path) -> None:
    left, busy = tmp_path / ".fox-1a.mp4", tmp_path / ".fox-2b.mp4"
    for partial in (left, busy):
        partial.touch()
    os.utime(left, (1, 1))
    films.make_film(film("Go."), tmp_path / "fox.mp4", height=64)
    assert {path.name for path in tmp_path.iterdir()} == {"fox.mp4", ".fox-2b.mp4"}
