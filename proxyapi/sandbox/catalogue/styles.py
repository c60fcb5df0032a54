"""What a video looks and sounds like: slugs are the values to send.

The slugs of genres, fonts, captions, transitions and volumes are those that the film maker
honours; the other groups are accepted, kept and shown, and change nothing in the film.
"""

from __future__ import annotations

from typing import NamedTuple

ASPECT_RATIOS = {"16:9": "Landscape", "9:16": "Portrait", "1:1": "Square", "4:5": "Vertical"}


class CatalogueItem(NamedTuple):
    """An item that is sent by its id."""

    id: int
    name: str
    slug: str


class ImageEngine(NamedTuple):
    """`cost` multiplies the credits of a render."""

    id: int
    name: str
    slug: str
    cost: int


GENRES = (
    CatalogueItem(41, "Cinematic", "cinematic"),
    CatalogueItem(42, "Watercolor", "watercolor"),
    CatalogueItem(43, "Anime", "anime"),
    CatalogueItem(46, "Noir", "noir"),
    CatalogueItem(47, "Paper Cut", "paper-cut"),
    CatalogueItem(51, "Pixel Art", "pixel-art"),
    CatalogueItem(52, "Nature Documentary", "nature-documentary"),
    CatalogueItem(55, "Synthwave", "synthwave"),
    CatalogueItem(58, "Storybook", "storybook"),
    CatalogueItem(60, "Blueprint", "blueprint"),
)

IMAGE_ENGINES = (
    ImageEngine(11, "Sketch Turbo", "sketch-turbo", 1),
    ImageEngine(12, "Canvas 2", "canvas-2", 2),
    ImageEngine(14, "Lumen Pro", "lumen-pro", 3),
    ImageEngine(17, "Atelier Ultra", "atelier-ultra", 5),
)

BACKGROUNDS = (
    CatalogueItem(71, "Soft gradient", "soft-gradient"),
    CatalogueItem(72, "Paper", "paper"),
    CatalogueItem(74, "Night sky", "night-sky"),
    CatalogueItem(75, "Studio grey", "studio-grey"),
)
# What a page's pictures lie on; a soft gradient is the page's own colour.
BACKGROUND_COLOURS = {72: "e9e2d3", 74: "0b1230", 75: "8a8f98"}

# Groups whose items are only a name and a slug, the first being the default.
STYLES: dict[str, dict[str, str]] = {
    "fonts": {
        "aileron": "Aileron",
        "sans-bold": "Sans Bold",
        "serif": "Serif",
        "serif-italic": "Serif Italic",
        "condensed": "Condensed",
        "mono": "Mono",
    },
    "transitions": {
        "fade": "Fade",
        "cut": "Cut",
        "slide": "Slide",
        "wipe": "Wipe",
        "zoom": "Zoom",
    },
    "caption_effects": {
        "pop": "Pop",
        "karaoke": "Karaoke",
        "fade": "Fade",
        "plain": "Plain",
        "box": "Box",
        "rise": "Rise",
    },
    "caption_positions": {"bottom": "Bottom", "center": "Center", "top": "Top"},
    "overlays": {"none": "None", "film-grain": "Film grain", "dust": "Dust", "vhs": "VHS"},
    "watermark_positions": {
        "bottom-right": "Bottom right",
        "bottom-left": "Bottom left",
        "top-right": "Top right",
        "top-left": "Top left",
    },
    "animations": {"ken-burns": "Ken Burns", "pan": "Pan", "drift": "Drift", "still": "Still"},
    "sfx": {"none": "None", "whoosh": "Whoosh", "soft-hits": "Soft hits", "typing": "Typing"},
    "volumes": {"low": "Low", "off": "Off", "medium": "Medium", "high": "High"},
}

# The setting of a video that takes a slug of the group.
SETTING_OF_GROUP = {
    "fonts": "font",
    "transitions": "transition",
    "caption_effects": "caption_effect",
    "caption_positions": "caption_position",
    "overlays": "overlay",
    "watermark_positions": "watermark_position",
    "animations": "animation",
    "sfx": "sfx",
    "volumes": "volume",
}
