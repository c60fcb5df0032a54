"""Films of storyboards: every scene in its place and as long as it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from proxyapi.sandbox.media import clips, storyboard, storyboards
from proxyapi.sandbox.media.board_reel import BoardReel
from proxyapi.sandbox.media.text_analysis import read_scene
from tests.sandbox.media.films_on_disk import length, pictures, sound

SIZE = (192, 108)


def scene(prompt: str, seconds: int = 2, **changes: Any) -> dict[str, Any]:
    told = {"prompt": prompt, "seconds": seconds, "chained": False, "seed": len(prompt)}
    return {**told, "first": None, "last": None, **changes}


SEA, FOREST = "A lighthouse above the sea at dusk", "A fox in the forest by day"


def frames(folder: Path, *scenes: dict[str, Any]) -> list[np.ndarray]:
    reel = BoardReel(storyboard.Storyboard(list(scenes)), SIZE, folder)
    return [np.asarray(frame[0], int) for frame in reel.frames()]


def jump(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.abs(before - after).mean())


@pytest.mark.parametrize(
    ("ratio", "resolution", "size"),
    [("16:9", "480p", (854, 480)), ("9:16", "512P", (512, 910)), ("auto", "144p", (256, 144))],
)
def test_the_film_has_the_shape_and_length_of_its_scenes(
    ratio: str, resolution: str, size: tuple[int, int], tmp_path: Path
) -> None:
    path = tmp_path / "film.mp4"
    wanted = {"scenes": [scene(SEA), scene(FOREST, 1)], "seed": 1, "audio": True}
    wanted |= {"aspect_ratio": ratio, "resolution": resolution}
    assert storyboards.make_described(wanted, path) == 3.0
    assert length(path) == pytest.approx(3.0, abs=0.1)
    seen = pictures(path)
    assert (seen[0].shape[1], seen[0].shape[0]) == size
    assert all(frame.std() > 10 for frame in (seen[0], seen[-1]))
    heard = np.abs(sound(path)).max(axis=0)
    assert heard[:13_000].max() > 0.02
    assert heard[-13_000:].max() > 0.02
    assert heard.max() < 0.99


def test_without_audio_there_is_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    wanted = {"scenes": [scene(SEA, 1)], "resolution": "144p", "audio": False}
    storyboards.make_described(wanted, path)
    assert len(pictures(path)) == 24
    with pytest.raises(IndexError):
        sound(path)


def test_scenes_are_parted_by_a_cut_and_chained_ones_melt(tmp_path: Path) -> None:
    cut = frames(tmp_path, scene(SEA), scene(FOREST))
    melted = frames(tmp_path, scene(SEA), scene(FOREST, chained=True))
    assert len(cut) == len(melted) == 96
    steady = jump(cut[20], cut[21])
    assert jump(cut[47], cut[48]) > 5 * steady + 5
    assert jump(melted[47], melted[48]) < jump(cut[47], cut[48]) / 4
    assert jump(melted[47], melted[90]) > 5


def test_a_chain_is_one_travel(tmp_path: Path) -> None:
    board = storyboard.Storyboard([scene(SEA), scene(SEA, chained=True), scene(FOREST)])
    first, second, third = BoardReel(board, SIZE, tmp_path).moves
    assert (first.across[1], first.scale[1]) == (second.across[0], second.scale[0])
    assert third != second


def test_the_camera_that_films_is_not_in_the_picture() -> None:
    told = "Medium shot: a fox in the forest; the camera tracks alongside, blue dusk."
    assert clips.without_camera_words(told) == "Medium shot: a fox in the forest;  , blue dusk."
    assert clips.without_camera_words("Camera rises over the sea. A boat.") == " . A boat."
    assert clips.without_camera_words("An old camera on a desk") == "An old camera on a desk"
    assert (
        clips.without_camera_words("Aerial shot: the storm; a slow orbit, dusk.")
        == "Aerial shot: the storm;  , dusk."
    )


def test_assigned_frames_are_seen_at_their_ends(tmp_path: Path) -> None:
    for name, colour in (("white.png", "white"), ("black.png", "black")):
        Image.new("RGB", (320, 180), colour).save(tmp_path / name)
    shown = frames(tmp_path, scene(SEA, 6, first={"file": "white.png"}, last={"file": "black.png"}))
    assert shown[2].mean() > 220
    assert shown[-2].mean() < 30
    assert 40 < shown[len(shown) // 2].mean() < 210
    assert frames(tmp_path, scene(SEA, first={"file": "gone.png"}))[2].std() > 10


def test_a_scene_that_names_no_place_stays_where_the_storyboard_plays(tmp_path: Path) -> None:
    for seed in range(6):
        storm = scene("The storm comes", seed=seed)
        board = storyboard.Storyboard([scene("A boat at sea"), storm, scene("A lighthouse")])
        boat, between, _ = BoardReel(board, SIZE, tmp_path).readings
        assert (boat[0].setting, between[0].setting) == ("sea", "sea")
    named = storyboard.Storyboard([scene("A boat at sea"), scene("A train in the desert")])
    told = BoardReel(named, SIZE, tmp_path).readings[1]
    assert read_scene("A train in the desert", told[1], told[0]).setting == "desert"
