"""Clips on disk: length, size, motion, sound or none."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.media import clips
from proxyapi.sandbox.media.clips import Clip
from tests.sandbox.media.films_on_disk import length, pictures, sound

PROMPT = "A whale swims under the ice at dusk"


def made(folder: Path, **wanted: object) -> Path:
    path = folder / "clip.mp4"
    values = {"prompt": PROMPT, "seconds": 2, "resolution": "144p", "seed": 5, **wanted}
    clips.make_clip(Clip(**values), path)  # type: ignore[arg-type]
    return path


@pytest.mark.parametrize(
    ("ratio", "resolution", "size"),
    [
        ("16:9", "144p", (256, 144)),
        ("9:16", "144P", (144, 256)),
        ("21:9", "128P", (298, 128)),
        ("auto", "144p", (256, 144)),
        ("2:3", None, (720, 1080)),
    ],
)
def test_a_clip_has_the_shape_that_was_ordered(ratio, resolution, size) -> None:
    assert clips.frame_size(Clip(PROMPT, 2, ratio, resolution)) == size


def test_a_clip_is_as_long_as_ordered_and_never_stands_still(tmp_path: Path) -> None:
    seen = pictures(path := made(tmp_path))
    assert (len(seen), length(path)) == (48, pytest.approx(2, abs=0.05))
    steps = [np.abs(seen[n].astype(int) - seen[n + 6]).mean() for n in range(0, 42, 6)]
    assert min(steps) > 0.5
    assert all(picture.std() > 12 and picture.mean() > 10 for picture in (seen[0], seen[-1]))


def test_only_a_clip_with_audio_has_an_audio_stream(tmp_path: Path) -> None:
    with av.open(str(made(tmp_path))) as file:
        assert [stream.type for stream in file.streams] == ["video"]
    heard = np.abs(sound(made(tmp_path, audio=True)))
    assert heard.shape[1] / 44_100 == pytest.approx(2, abs=0.05)
    halves = heard[:, : 2 * 44_100].reshape(2, 8, -1).max(axis=(0, 2))
    assert halves.min() > 0.03 and heard.max() < 0.95


def test_every_place_has_a_sound_of_its_own() -> None:
    from proxyapi.sandbox.media import ambience

    other = ambience.render_ambience("wind over the desert", "cinematic", 3, 2.0)
    places = ("waves at sea", "birds in a forest", "a city street in the rain", "a room")
    for prompt in (*places, "stars in space"):
        heard, again = (ambience.render_ambience(prompt, "cinematic", 3, 2.0) for _ in range(2))
        assert heard.shape == (2, 88_200) and np.array_equal(heard, again), prompt
        assert np.abs(heard - other).max() > 0.05, prompt


def test_the_same_clip_is_the_same_file_and_another_seed_is_another(tmp_path: Path) -> None:
    first = made(tmp_path).read_bytes()
    assert made(tmp_path).read_bytes() == first
    assert made(tmp_path, seed=6).read_bytes() != first


def test_what_is_named_first_is_what_is_seen_and_the_prompt_chooses_the_hand() -> None:
    assert clips.genre_of_prompt("A lighthouse, watercolor") == "watercolor"
    assert clips.genre_of_prompt("A 8-bit castle") == "pixel-art"
    assert clips.genre_of_prompt("A castle") == "cinematic"


def test_without_the_extra_there_is_a_plain_clip(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "proxyapi.sandbox.media.ambience", None)
    monkeypatch.delattr("proxyapi.sandbox.media.ambience", raising=False)
    path = made(tmp_path, seconds=4, aspect_ratio="9:16")
    assert length(path) == pytest.approx(4, abs=0.3)


def test_a_clip_begins_and_ends_with_its_references(tmp_path: Path) -> None:
    for name, colour in (("white.png", "white"), ("black.png", "black")):
        Image.new("RGB", (320, 180), colour).save(tmp_path / name)
    seen = pictures(made(tmp_path, seconds=5, first={"file": "white.png"}))
    assert seen[0].mean() > 220 > seen[-1].mean() + 30
    assert length(tmp_path / "clip.mp4") == pytest.approx(5, abs=0.05)
    seen = pictures(made(tmp_path, seconds=5, last={"file": "black.png"}))
    assert seen[-1].mean() < 30 < seen[0].mean() - 10


def test_a_promised_picture_that_nobody_fetched_is_shown_all_the_same(tmp_path: Path) -> None:
    portrait = {"kind": "portraits", "genre": "anime", "seed": 4, "photo": ""}
    still = {"kind": "stills", "genre": "noir", "text": "A fox at night", "seed": 2}
    begun = [
        pictures(made(tmp_path, seconds=3, first={"file": "gone.png", "still": it}))[0].astype(int)
        for it in (None, portrait, still)
    ]
    for one, other in itertools.combinations(begun, 2):
        assert np.abs(one - other).mean() > 10


@pytest.mark.parametrize("ratio", ["1:1", "9:16", "16:9"])
def test_a_subject_is_whole_in_the_frame_of_a_travelling_camera(ratio: str) -> None:
    from proxyapi.sandbox.media import scenes
    from proxyapi.sandbox.media.canvas import Canvas
    from proxyapi.sandbox.media.palettes import palette
    from proxyapi.sandbox.media.stage import Spot, Stage
    from proxyapi.sandbox.media.subjects import SUBJECTS

    width, height = clips.frame_size(Clip("", 1, ratio, "144p"))
    canvas = Canvas(round(width * 1.36), round(height * 1.36))
    dice = random.Random(3)  # noqa: S311  # a choice of size, not a secret
    stage = Stage(canvas, palette("anime", "day"), "day", "anime", dice)
    fox = SUBJECTS["fox"]
    x, y, size = scenes._placed(stage, Spot(width, height, height), fox, 1.36)
    edge, above = width * 0.18, height * 0.18
    assert edge - 1 <= x - size * fox.reach and x + size * fox.reach <= edge + width + 1
    assert y - size >= above
