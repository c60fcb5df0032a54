"""Typefaces for captions: what the machine has, with Pillow's own face as the last resort.

A text is set in the first face that can draw all of it; letters no face has are left out.
"""

from __future__ import annotations

import functools
import os
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import ImageFont

Face = ImageFont.FreeTypeFont

_FILES = {
    "sans-bold": ("DejaVuSans-Bold", "LiberationSans-Bold", "Arial Bold", "arialbd"),
    "serif": ("DejaVuSerif-Bold", "LiberationSerif-Bold", "Georgia Bold", "georgiab"),
    "serif-italic": ("LiberationSerif-BoldItalic", "DejaVuSerif-BoldItalic", "georgiaz"),
    "condensed": ("LiberationSansNarrow-Bold", "DejaVuSansCondensed-Bold", "ARIALNB"),
    "mono": ("DejaVuSansMono-Bold", "LiberationMono-Bold", "Menlo", "consolab"),
}
# Tried in turn for a script that the chosen face does not know.
_WIDE = (
    "LiberationSans-Bold",
    "DejaVuSans-Bold",
    "DejaVuSans",
    "NotoSansCJK-Bold",
    "NotoSansCJK-Regular",
    "NotoSans-Bold",
    "wqy-zenhei",
    "Arial Unicode",
    "msyh",
    "YuGothB",
    "Nirmala",
    "FreeSans",
)
_PLAIN = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "—": "-", "–": "-"})
_MISSING = "\U0010fffe"  # a code point that no face may assign


@dataclass(frozen=True, slots=True)
class Typeface:
    """A typeface that is on this machine; the empty name is Pillow's own."""

    name: str

    def at(self, size: int) -> Face:
        """The face at `size` pixels."""
        return _face(self.name, size) or _built_in(size)

    def drawable(self, text: str) -> str:
        """The text as far as this face can draw it, plainer letters standing in."""
        composed = unicodedata.normalize("NFC", text)
        return "".join(self._letter(letter) for letter in composed)

    def _letter(self, letter: str) -> str:
        if _known(self.name, letter):
            return letter
        plain = unicodedata.normalize("NFKD", letter).translate(_PLAIN)
        return "".join(part for part in plain if _known(self.name, part))


def fitting_typeface(slug: str, text: str) -> Typeface:
    """The first face in the wanted style that can draw all of a text, or most of it."""
    letters = set(unicodedata.normalize("NFC", text).translate(_PLAIN))
    names = (*_FILES.get(slug, ()), "", *_WIDE)
    present = [name for name in names if _face(name, 24) is not None]
    drawn = {name: sum(_known(name, letter) for letter in letters) for name in present}
    return Typeface(max(present, key=lambda name: drawn[name]))


@functools.lru_cache(maxsize=64)
def _face(name: str, size: int) -> Face | None:
    if not name:
        return _built_in(size)
    path = _installed().get(name.lower())
    try:
        return ImageFont.truetype(path, size) if path else None
    except OSError:
        return None


def _built_in(size: int) -> Face:
    face = ImageFont.load_default(size)
    if not isinstance(face, ImageFont.FreeTypeFont):
        raise ImportError("Pillow was built without FreeType.")
    return face


@functools.lru_cache(maxsize=4096)
def _known(name: str, letter: str) -> bool:
    if letter.isspace():
        return True
    face = _face(name, 24)
    return face is not None and bytes(face.getmask(letter)) != bytes(face.getmask(_MISSING))


@functools.cache
def _installed() -> dict[str, str]:
    """Font files of this machine by lower-case stem; the first folder wins."""
    found: dict[str, str] = {}
    for folder in _folders():
        for root, _, names in os.walk(folder):
            for name in sorted(names):
                stem, ending = os.path.splitext(name)
                if ending.lower() in {".ttf", ".otf", ".ttc"}:
                    found.setdefault(stem.lower(), os.path.join(root, name))
    return found


def _folders() -> Iterator[Path]:
    home = Path.home()
    if sys.platform == "darwin":
        yield from (
            home / "Library/Fonts",
            Path("/Library/Fonts"),
            Path("/System/Library/Fonts"),
        )
    elif sys.platform == "win32":
        yield Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"
    else:
        yield from (home / ".local/share/fonts", Path("/usr/local/share/fonts"))
        yield Path("/usr/share/fonts")
