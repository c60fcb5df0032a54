"""Without the media extra there is still a film: small, silent, playable."""

from __future__ import annotations

import sys
from pathlib import Path

import av
import pytest

from proxyapi.sandbox.media import films
from tests.sandbox.media.films_on_disk import film, length, pictures


@pytest.fixture
def without_media_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "proxyapi.sandbox.media.reel", None)
    monkeypatch.delattr("proxyapi.sandbox.media.reel", raising=False)


@pytest.mark.usefixtures("without_media_extra")
@pytest.mark.parametrize("ratio", films.ASPECT_RATIOS)
def test_a_film_is_made_by_the_standard_library(ratio: str, tmp_path: Path) -> None:
    path = tmp_path / "plain.mp4"
    seconds = films.make_film(film("word " * 40, aspect_ratio=ratio, genre="synthwave"), path)
    assert seconds == pytest.approx(40 / 2.6, abs=0.2)
    with av.open(str(path)) as file:
        assert file.streams.video[0].codec_context.name == "h264"
    assert length(path) == pytest.approx(seconds)
    assert path.stat().st_size < 400_000


@pytest.mark.usefixtures("without_media_extra")
@pytest.mark.parametrize("genre", ["cinematic", "noir", "anime"])
def test_every_frame_of_it_can_be_decoded(genre: str, tmp_path: Path) -> None:
    path = tmp_path / "plain.mp4"
    films.make_film(film("word " * 40, genre=genre), path)
    seen = pictures(path)
    assert len(seen) == 60
    assert seen[0].std() > 20


@pytest.mark.usefixtures("without_media_extra")
def test_a_still_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(films.MediaUnavailable, match="media extra"):
        films.write_film_still(film(), tmp_path / "fox.jpg")
    assert list(tmp_path.iterdir()) == []


def test_the_public_module_needs_nothing_but_the_standard_library() -> None:
    source = Path(films.__file__).read_text()
    assert not any(f"import {name}" in source for name in ("av", "numpy", "PIL", "espeakng_loader"))
