"""Plain films stand whole under their name, or not at all: a kill leaves no half of one."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest

from proxyapi.sandbox.media_makers import PlainMaker

FILMS = [{"aspect_ratio": "9:16", "seed": 1}, {"kind": "stills", "seed": 1}]


@pytest.mark.parametrize("film", FILMS)
def test_nothing_stands_there_before_it_is_whole(film, tmp_path, monkeypatch):
    path = tmp_path / "film.mp4"
    written: list[object] = []
    replace = Path.replace

    def put(self: Path, to: Path) -> Path:
        written.append(to.exists())
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", put)
    PlainMaker().begin(dict(film), path, written.append)
    assert written == [False, None]
    assert [it.name for it in tmp_path.iterdir()] == ["film.mp4"]


def test_the_preview_of_a_voice_is_a_sound(tmp_path):
    path = tmp_path / "voice.wav"
    PlainMaker().begin({"kind": "samples", "name": "Mira", "seed": 1}, path, lambda error: None)
    with wave.open(str(path)) as sound:
        assert sound.getnchannels() == 1
        assert sound.getnframes() > sound.getframerate()
