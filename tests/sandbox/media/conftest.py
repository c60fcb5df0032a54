from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("av", reason="the media extra is not installed")

from proxyapi.sandbox.media import films
from tests.sandbox.media.films_on_disk import SMALL, film


@pytest.fixture(scope="session")
def fox_film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small film that several tests only look at."""
    path = tmp_path_factory.mktemp("films") / "fox.mp4"
    films.make_film(film(), path, height=SMALL)
    return path
