"""Colours: every genre has a day, a dusk and a night, each of twelve named colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Colour = tuple[int, int, int]
Hour = Literal["day", "dusk", "night"]
HOURS: tuple[Hour, ...] = ("day", "dusk", "night")


@dataclass(frozen=True, slots=True)
class Palette:
    """Sky from top to horizon, then land, water, light and the two colours of things."""

    zenith: Colour
    sky: Colour
    horizon: Colour
    sun: Colour
    far: Colour
    near: Colour
    shallow: Colour
    deep: Colour
    accent: Colour
    second: Colour
    ink: Colour
    paper: Colour


_ROWS: dict[str, tuple[str, str, str]] = {
    # zenith sky horizon sun far near shallow deep accent second ink paper
    "cinematic": (
        "2f6f95 7fb3c4 f3dcb4 fff2cf 7d9fa6 2b4a4a 4b93a1 123a4d d9542f e8a949 132226 f5ead6",
        "172447 5b4a7a f0935a ffd9a0 6b4d72 1c1b33 b86a62 1d2145 e4572e f7b45a 0f1020 fbe6cf",
        "070d22 1b3558 5d7391 ffe9b8 2a4362 0b1424 2b4d6b 091426 b8433a ffcf7a 060a14 e9e4d8",
    ),
    "watercolor": (
        "7fb8d6 b9dcea fbeedd ffe9a8 9dbfc4 5f8f7b 8cc7d0 3f86a0 d96c5a f0b65c 3a4a54 fdf8ee",
        "8a7fb5 e0a3b0 fbd3a8 fff0c0 b193b5 6a5f8a e0a9a8 6f6fa6 d2594f f2b263 40365a fdf6ea",
        "3f5488 7288b5 c9c5dd fff4cf 7f8fba 3d4a77 8297c4 34477a c2607a f4d27f 27304f f6f3ea",
    ),
    "anime": (
        "1f7fe0 6cc0f5 d9f4ff fffbe0 7fc4d8 2e9a5e 48c5e6 146fb8 ff5f57 ffc43d 1b2a4a ffffff",
        "34307e d1609a ffc07a fff0b8 8a5fa8 3a2a68 ff9a8c 4a3a8c ff4f6a ffd257 1d1640 fff3e6",
        "0c1250 2a3fa0 7a7fe0 f7f4ff 3c4aa8 141c5c 4a6fe0 10185a ff6fa8 8ff0ff 0a0e3a f0f2ff",
    ),
    "noir": (
        "8f9396 bfc2c2 e9e8e2 ffffff 8b8f92 34373a 9ea3a5 3a3e42 b3262a d8d4c8 111214 f4f2ec",
        "232527 5d6164 c9c7c0 fbf6e8 55595c 17181a 74797c 1c1e20 b3262a d9d2c0 08090a efece4",
        "08090a 232629 5c6064 f6f2e4 2f3336 0b0c0d 43484c 0c0e10 b3262a e6dfc8 040505 e8e5dc",
    ),
    "paper-cut": (
        "8fd0d6 bfe6dd fdf3d8 ffd166 7cc0b4 2f7f79 6cc5cf 1f7a94 ef6f53 ffc857 24404a fffaf0",
        "5a3f7a c9607a ffb26b ffe29a 9a4f7d 40285f e07a70 5a3a78 f25f4c ffc857 2a1a40 fff3e0",
        "14213d 24406e 4f76a3 ffe8a3 30548a 101a33 3a6aa0 13264a e76f51 f4d35e 0a1226 f6f1e4",
    ),
    "pixel-art": (
        "4fa4f7 92d4ff d8f6ff fff7b0 74c08a 2f8f4e 45b6e8 1c5fae e4523b ffcf3f 1a1c2c f4f4f4",
        "3b2a6b b13e7a ffa05a ffe08a 7a3b78 2a1a4a ef7d57 41307a ef4f57 ffcd75 1a1c2c fff1d8",
        "0f1230 29366f 5a6fc0 f4f0c8 333c78 12163a 3b5dc9 161c48 b13e53 ffcd75 0c0e20 e8ecf8",
    ),
    "nature-documentary": (
        "4c92c3 9cc8e0 eef3e6 fff6d8 8fb0a2 3f6b3c 5fa8b0 1c5568 c7632f e0b04a 1d2a1c f5f2e6",
        "3b4a6b c08a6a f8c98a ffe9b8 8a7a6a 3a3a26 c79a78 3c4a58 c9582c efb04f 1c1810 f8ecd8",
        "0a1a2c 1f4257 6a8f92 f4f2dc 2f5560 0d2026 2f6a78 0a2634 b5642f e8c56a 060f14 e6ebe0",
    ),
    "synthwave": (
        "2b1a6b 8a3fc0 ff8ac0 fff0a0 6a3fb0 2a1460 40c8f0 3a1f8a ff3f8f 3ff0ff 160a38 fdf0ff",
        "1a0b3f 8a1f8a ff6f61 ffe066 5a1f88 1a0a44 ff5fa8 2a1060 ff2f7f 2fe8ff 0d0528 ffe8f8",
        "080420 2a0f5c a0289a ff9ae0 38156e 0c0630 5f2fd0 0f0738 ff2f92 2ff3ff 060218 f4e8ff",
    ),
    "storybook": (
        "8cbcc0 c6ddcc f8ecc9 fbd98a a3bd9a 5b7f56 86b7b3 3f7480 c8553d e9b44c 3a3228 fbf3de",
        "6a5a84 c98a80 f5c48a fbe2a0 96788a 4f4560 c9968a 5a5a80 bf4f3f eab250 332a34 faeed6",
        "1f2f54 47618c a8adb8 fae7a8 4f6690 22304e 5a7aa0 223a60 b8564a f0c765 161d33 f3ecd8",
    ),
    "blueprint": (
        "16498a 2a63a6 5c93cc eaf4ff 2f6bb0 123f7c 3c7cc0 10386e f2c14e 9fd3ff 0b2a57 eef6ff",
        "1a3f74 2e5a96 6f8fc4 fff4da 3560a0 12356a 4570b0 102e5c f4a259 a8d8ff 0a2348 f0f6ff",
        "0a2348 153a70 3566a4 eaf4ff 1c4784 0a264e 28589a 081f42 f2c14e 8ecbff 061833 e6f1ff",
    ),
}


def palette(genre: str, hour: Hour) -> Palette:
    """The colours of a genre at an hour; an unknown genre looks cinematic."""
    row = _ROWS.get(genre, _ROWS["cinematic"])[HOURS.index(hour)]
    return Palette(*(parse_colour(name) for name in row.split()))


def parse_colour(name: str) -> Colour:
    return int(name[:2], 16), int(name[2:4], 16), int(name[4:6], 16)


def mix_colours(first: Colour, second: Colour, share: float) -> Colour:
    """`share` 0 is the first colour, 1 the second."""
    red, green, blue = (
        round(a + (b - a) * min(1.0, max(0.0, share))) for a, b in zip(first, second, strict=True)
    )
    return red, green, blue
