"""Films whose pictures come from assets: pages, footage, travelling clips, re-rolled scenes."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.media import cut, cut_reel, cuts, encode, films, photo_effects, stills
from tests.sandbox.media.films_on_disk import SMALL, film, length, pictures, sound

SIZE = (256, 144)
STILL = {"kind": "stills", "text": "A fox in the forest", "genre": "cinematic", "seed": 5}


def reel(folder: Path, manner: str, *assets: dict[str, Any], **changes: Any) -> cut_reel.CutReel:
    made = cut.Cut(film(title="", captioned=False), manner, list(assets), **changes)
    return cut_reel.CutReel(made, SIZE, folder)


def luma(made: cut_reel.CutReel, number: int = 3) -> np.ndarray:
    return np.asarray(made.frame(number)[0], int)


@pytest.mark.parametrize("manner", ["scenes", "clips", "footage", "page"])
def test_every_manner_makes_a_film_that_can_be_heard(
    manner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = films.frame_size
    monkeypatch.setattr(films, "frame_size", lambda ratio, height=SMALL: small(ratio, SMALL))
    told = {"film": asdict(film()), "manner": manner, "pictures": [], "colour": ""}
    path = tmp_path / "film.mp4"
    seconds = cuts.make_described(told, path)
    assert length(path) == pytest.approx(seconds, abs=0.1)
    seen = pictures(path)
    assert seen[0].shape == (SMALL, 256, 3)
    assert all(frame.std() > 10 for frame in (seen[0], seen[-1]))
    assert np.abs(sound(path)).max() > 0.1


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ({"resolution": "1080p"}, (1920, 1080)),
        ({"resolution": "512P"}, (910, 512)),
        ({}, (1280, 720)),
    ],
)
def test_a_film_is_as_large_as_its_resolution_says(
    told: dict[str, Any], size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[int, int]] = []

    def write(path: Path, size: tuple[int, int], *_: object) -> float:
        written.append(size)
        path.touch()
        return 1.0

    monkeypatch.setattr(encode, "write", write)
    film_of_clips = {"film": asdict(film("Fox.")), "manner": "clips", **told}
    cuts.make_described(film_of_clips, tmp_path / "film.mp4")
    assert written == [size]


def test_film_kinds_differ(tmp_path: Path) -> None:
    asset = {"seed": 1, "roll": 0, "still": STILL}
    shown = [luma(reel(tmp_path, manner)) for manner in ("scenes", "clips", "footage")]
    shown.append(luma(reel(tmp_path, "page", asset, colour="c98a1b")))
    for place, one in enumerate(shown):
        assert all(np.abs(one - other).mean() > 4 for other in shown[:place])


def test_footage_is_letterboxed_and_its_captions_are_above_the_bars(tmp_path: Path) -> None:
    view = luma(reel(tmp_path, "footage"))
    assert view[:12].max() == view[-12:].max() == 16
    assert view[20:-20].std() > 10


def test_a_page_shows_its_pictures_in_their_order(tmp_path: Path) -> None:
    for name, colour in (("a.png", (250, 20, 20)), ("b.png", (20, 20, 250))):
        Image.new("RGB", (300, 200), colour).save(tmp_path / name)
    assets = [{"seed": n, "roll": 0, "file": name} for n, name in enumerate(("a.png", "b.png"))]
    made = reel(tmp_path, "page", *assets, colour="101010")
    drawn = (made._picture(scene, 1, SIZE).image for scene in (0, 1))
    first, second = (np.asarray(picture)[60, 128] for picture in drawn)
    assert first[0] > 200 > 50 > first[2]
    assert second[2] > 200 > 50 > second[0]


def test_only_a_re_rolled_scene_is_drawn_again(tmp_path: Path) -> None:
    before = luma(reel(tmp_path, "scenes", {"seed": 1, "roll": 0}))
    rolled = luma(reel(tmp_path, "scenes", {"seed": 2, "roll": 1}))
    plain = luma(reel(tmp_path, "scenes"))
    assert np.array_equal(before, plain)
    assert not np.array_equal(before, rolled)


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a broken", b"<svg/>"])
def test_a_picture_that_cannot_be_read_is_drawn_instead(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(data)
    assert photo_effects.open_picture(tmp_path / "a.png") is None
    asset = {"seed": 1, "roll": 0, "file": "a.png"}
    assert luma(reel(tmp_path, "page", asset)).std() > 10


def test_a_picture_too_large_to_be_one_is_not_opened(tmp_path: Path) -> None:
    Image.new("1", (9000, 9000)).save(tmp_path / "a.png")
    assert photo_effects.open_picture(tmp_path / "a.png") is None


def test_a_film_that_was_uploaded_gives_its_first_frame(tmp_path: Path, fox_film: Path) -> None:
    shown = photo_effects.open_picture(fox_film)
    assert shown is not None
    assert shown.size == (256, 144)


def test_a_still_is_a_picture_with_and_without_the_extra(tmp_path: Path) -> None:
    stills.make_described({**STILL, "photographic": True}, tmp_path / "a.jpg")
    stills.write_plain(STILL, tmp_path / "b.png")
    for name, kind, size in (("a.jpg", "JPEG", (1280, 720)), ("b.png", "PNG", (160, 90))):
        with Image.open(tmp_path / name) as shown:
            assert (shown.format, shown.size) == (kind, size)
            assert np.asarray(shown.convert("L")).std() > 4
    assert {path.name for path in tmp_path.iterdir()} == {"a.jpg", "b.png"}


def test_a_character_stands_in_the_drawn_scenes_but_for_every_third(tmp_path: Path) -> None:
    told = {"genre": "cinematic", "seed": 4, "photo": ""}
    sits = film("One. " * 40, title="", captioned=False, character=told)
    for manner in ("scenes", "clips"):
        with_somebody = cut_reel.CutReel(cut.Cut(sits, manner), SIZE, tmp_path)
        alone = cut_reel.CutReel(cut.Cut(replace(sits, character=None), manner), SIZE, tmp_path)
        changed = [
            np.abs(luma(with_somebody, at) - luma(alone, at)).mean() > 2
            for at in (round((it.start + it.end) * 12) for it in alone.story.scenes[:3])
        ]
        assert changed == [True, True, False]


def test_pictures_of_ones_own_take_one_scene_each_of_clips(tmp_path: Path) -> None:
    Image.new("RGB", (300, 200), (250, 20, 20)).save(tmp_path / "a.png")
    made = reel(tmp_path, "clips", {"seed": 1, "roll": 0, "file": "a.png"})
    made.story = replace(made.story, scenes=made.story.scenes * 3)
    assert [made._asset(n) is not None for n in range(3)] == [False, True, False]


@pytest.mark.parametrize("chosen", [{"file": "a.png"}, {"still": STILL}, {"roll": 1}])
def test_a_film_of_few_scenes_leaves_no_chosen_picture_out(chosen: dict[str, Any]) -> None:
    drawn: dict[str, Any] = {"seed": 1, "roll": 0}
    assets = [drawn, drawn, drawn, drawn, {**drawn, **chosen}]
    made = reel(Path(), "scenes", *assets)
    made.story = replace(made.story, scenes=made.story.scenes[:1] * 2)
    assert [made._asset(n) for n in range(2)] == [drawn, assets[-1]]
