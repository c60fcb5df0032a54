"""Every look that the catalogue offers changes the film: veils, camera, effects, watermark."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("av", reason="the media extra is not installed")

from proxyapi.sandbox.catalogue import styles
from proxyapi.sandbox.media import film as films
from proxyapi.sandbox.media import reel, sound, storyline
from tests.sandbox.media.films_on_disk import film

SIZE = (256, 144)


def luma(number: int = 30, **changes: str) -> NDArray[np.float32]:
    made = reel.Reel(film(title="", captioned=False, **changes), SIZE)
    return np.asarray(made.frame(number)[0], np.float32)


def heard(**changes: str) -> NDArray[np.float32]:
    asked = film(script="A red fox walks home. " * 4, volume="off", **changes)
    return sound.mix(asked, storyline.build_storyline(asked, 24))


@pytest.mark.parametrize(
    ("group", "known"),
    [
        ("overlays", films.OVERLAYS),
        ("animations", films.ANIMATIONS),
        ("sfx", films.SFX),
        ("watermark_positions", films.WATERMARK_POSITIONS),
    ],
)
def test_what_the_catalogue_offers_is_what_the_maker_knows(group, known):
    assert set(styles.STYLES[group]) == set(known) - {""}


@pytest.mark.parametrize("overlay", films.OVERLAYS[1:])
def test_an_overlay_changes_the_picture_and_keeps_what_it_shows(overlay):
    plain, veiled = luma(), luma(overlay=overlay)
    assert not np.array_equal(plain, veiled)
    assert np.corrcoef(plain.ravel(), veiled.ravel())[0, 1] > 0.8


@pytest.mark.parametrize("overlay", films.OVERLAYS[1:])
def test_an_overlay_lives_from_frame_to_frame_and_is_the_same_again(overlay):
    made = reel.Reel(film(title="", captioned=False, overlay=overlay, animation="still"), SIZE)
    frames = [np.asarray(made.frame(number)[0]) for number in (30, 31, 32, 33, 30)]
    assert any(not np.array_equal(frames[0], later) for later in frames[1:4])
    assert np.array_equal(frames[0], frames[4])


def test_a_still_camera_stands_still_and_every_other_one_moves():
    def moved(animation: str) -> float:
        script = "The dry desert lies under the sun."  # nothing that moves by itself
        made = reel.Reel(
            film(script, title="", captioned=False, animation=animation, seconds=4.0), SIZE
        )
        first, later = (np.asarray(made.frame(number)[0], float) for number in (12, 60))
        return float(np.abs(first - later).mean())

    still = moved("still")
    assert all(moved(animation) > 2 * still for animation in ("ken-burns", "pan", "drift"))


@pytest.mark.parametrize("sfx", films.SFX[1:])
def test_an_effect_is_heard_and_clips_nothing(sfx):
    plain, marked = heard(), heard(sfx=sfx)
    assert marked.shape == plain.shape
    assert np.abs(marked - plain).max() > 0.02
    assert np.abs(marked).max() <= 0.87


@pytest.mark.parametrize("corner", films.WATERMARK_POSITIONS)
def test_a_watermark_stands_in_the_corner_that_was_chosen(corner):
    marked = luma(watermark="Northlight", watermark_position=corner)
    changed = np.abs(marked - luma()) > 12
    rows, columns = np.nonzero(changed)
    assert (rows.mean() < SIZE[1] / 3) == corner.startswith("top")
    assert (columns.mean() < SIZE[0] / 2) == corner.endswith("left")
