"""Clips on disk: length, size, motion, sound or none."""

from __future__ import annotations

import sys
from pathlib import Path

import av
import numpy as np
import pytest

from proxyapi.sandbox.media import clips
from proxyapi.sandbox.media.clips import Clip
from tests.sandbox.media.films_on_disk import length, pictures, sound

PROMPT = "A whale swims under the ice at dusk"


def made(folder: Path, **wanted: object) -> Path:
    path = folder / "clip.mp4"
    values = {"prompt": PROMPT, "seconds": 2, "resolution": "144p", "seed": 5, **wanted}
    clips.make(Clip(**values), path)  # type: ignore[arg-type]
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


@pytest.mark.parametrize(
    "prompt",
    ["waves at sea", "birds in a forest", "a city street in the rain", "a room", "stars in space"],
)
def test_every_place_has_a_sound_of_its_own(prompt: str) -> None:
    from proxyapi.sandbox.media import ambience

    heard = ambience.listen(prompt, "cinematic", 3, 2.0)
    again = ambience.listen(prompt, "cinematic", 3, 2.0)
    other = ambience.listen("wind over the desert", "cinematic", 3, 2.0)
    assert heard.shape == (2, 88_200) and np.array_equal(heard, again)
    assert np.abs(heard - other).max() > 0.05


def test_the_same_clip_is_the_same_file_and_another_seed_is_another(tmp_path: Path) -> None:
    first = made(tmp_path).read_bytes()
    assert made(tmp_path).read_bytes() == first
    assert made(tmp_path, seed=6).read_bytes() != first


def test_what_is_named_first_is_what_is_seen_and_the_prompt_chooses_the_hand() -> None:
    assert clips.hand("A lighthouse, watercolor") == "watercolor"
    assert clips.hand("A 8-bit castle") == "pixel-art"
    assert clips.hand("A castle") == "cinematic"


def test_without_the_extra_there_is_a_plain_clip(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "proxyapi.sandbox.media.ambience", None)
    monkeypatch.delattr("proxyapi.sandbox.media.ambience", raising=False)
    path = made(tmp_path, seconds=4, aspect_ratio="9:16")
    assert length(path) == pytest.approx(4, abs=0.3)
