"""Films as a player sees them: what the tests of the film maker look at."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from proxyapi.sandbox.media import films

SMALL = 144  # pixels of the shorter side; nothing in the maker depends on the size


def film(script: str = "A red fox walks home. The moon is up.", **changes: object) -> films.Film:
    defaults: dict[str, object] = {"title": "A fox", "seed": 3, "volume": "low"}
    return films.Film(script=script, **(defaults | changes))  # type: ignore[arg-type]


def pictures(path: Path) -> list[NDArray[np.uint8]]:
    with av.open(str(path)) as file:
        frames = (frame.to_ndarray(format="rgb24") for frame in file.decode(video=0))
        return [np.asarray(frame, np.uint8) for frame in frames]


def length(path: Path) -> float:
    """Seconds."""
    with av.open(str(path)) as file:
        return (file.duration or 0) / av.time_base


def sound(path: Path) -> NDArray[np.float32]:
    """All channels as the player hears them, at 44.1 kHz."""
    with av.open(str(path)) as file:
        return np.concatenate([frame.to_ndarray() for frame in file.decode(audio=0)], axis=1)
