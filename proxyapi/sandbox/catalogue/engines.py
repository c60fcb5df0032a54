"""Clip engines and their prices: credits per second by resolution and audio."""

from __future__ import annotations

from typing import Any, NamedTuple

Price = tuple[float, str | None, str | None]  # credits per second, resolution, audio


class ClipEngine(NamedTuple):
    id: int
    name: str
    slug: str
    description: str
    type: str
    prices: tuple[Price, ...]

    @property
    def cost(self) -> list[dict[str, Any]]:
        """The price entries; a resolution or audio that does not matter is left out."""
        return [
            {"credits_per_second": credits}
            | ({"resolution": resolution} if resolution else {})
            | ({"audio": audio} if audio else {})
            for credits, resolution, audio in self.prices
        ]


CLIP_ENGINES = (
    ClipEngine(
        811, "Brook Lite", "brook-lite", "Quick drafts, one price", "text-to-video",
        ((0.68, None, None),),
    ),
    ClipEngine(
        812, "Brook", "brook", "Everyday clips up to 720p", "text-to-video",
        ((1.1, "480p", None), (1.9, "720p", None)),
    ),
    ClipEngine(
        815, "Kestrel", "kestrel", "Fast motion, sharp edges", "text-to-video",
        ((2.04, "720p", None), (3.4, "1080p", None)),
    ),
    ClipEngine(
        818, "Kestrel Voice", "kestrel-voice", "Kestrel with sound", "text-to-video",
        ((2.72, "720p", "off"), (4.08, "720p", "on"), (5.44, "1080p", "on")),
    ),
    ClipEngine(
        821, "Marlow 02", "marlow-02", "Calm camera, 6 or 10 seconds", "text-to-video",
        ((1.53, "512P", None), (2.55, "768P", None), (4.25, "1080P", None)),
    ),
    ClipEngine(
        824, "Tessera", "tessera", "Holds faces between cuts", "image-to-video",
        ((3.06, "720p", None), (6.12, "1080p", None)),
    ),
    ClipEngine(
        829, "Halden", "halden", "Film look with dialogue", "text-to-video",
        ((6.8, None, "off"), (10.2, None, "on")),
    ),
    ClipEngine(
        833, "Halden Max", "halden-max", "The best there is, at its price", "text-to-video",
        ((8.16, "1080p", "off"), (12.16, "1080p", "on")),
    ),
)  # fmt: skip
