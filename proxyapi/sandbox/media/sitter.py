"""Who sits for a portrait: the pen, the colours, the dice and the head that every part shares."""

from __future__ import annotations

import random
from dataclasses import dataclass

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.complexions import Complexion

Head = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Sitter:
    """What every part of the drawing needs; the head is x, y, half width and half height."""

    pen: Brush
    colours: Complexion
    dice: random.Random
    head: Head
