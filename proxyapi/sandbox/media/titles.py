"""What stands on the frame besides captions: the title at the start, and a watermark."""

from __future__ import annotations

import math
import textwrap

from PIL import Image, ImageDraw, ImageFilter

from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.fonts import fitting_typeface
from proxyapi.sandbox.media.palettes import palette
from proxyapi.sandbox.media.planes import Overlay, Planes, overlay

_SHOWN, _FADE_IN, _FADE_OUT = 2.2, 0.35, 0.4
_LONGEST = 64  # letters; a longer title is cut at a word
MARK_ROOM = 0.075  # of the shorter side: what a watermark takes at its edge


def has_watermark_at(film: Film, edge: str) -> bool:
    """Whether the watermark stands at the top or at the bottom, as `edge` says."""
    at = "bottom" if film.watermark_position.startswith("bottom-") else "top"
    return bool(film.watermark.strip()) and edge == at


class Titles:
    """The title card of a film, with an accent line above it, and its watermark."""

    def __init__(self, film: Film, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.short = min(size)
        self.at_top = film.caption_position != "top"
        self.title = self._card(film) if film.title.strip() else None
        self.mark = self._mark(film) if film.watermark.strip() else None
        self.corner = film.watermark_position

    def put(self, target: Planes, time: float) -> None:
        edge = self.short * 0.06
        if self.mark:
            self.mark.put(target, self._place(self.mark, edge * 0.6), 0.62)
        if self.title and time < _SHOWN:
            opacity = min(1.0, 0.25 + time / _FADE_IN, (_SHOWN - time) / _FADE_OUT)
            settled = 1 - (1 - min(1.0, time / 0.6)) ** 3
            low = self.height * 0.93 - self.title.size[1]
            top = self.height * 0.1 if self.at_top else low
            left = edge * 1.2 - (1 - settled) * self.short * 0.03
            self.title.put(target, (max(0.0, left), top), opacity)

    def _place(self, mark: Overlay, edge: float) -> tuple[float, float]:
        """The corner for the mark; one that is not known is at the top right."""
        across, down = mark.size
        left = edge if self.corner.endswith("-left") else self.width - across - edge
        top = self.height - down - edge if self.corner.startswith("bottom-") else edge
        return left, top

    def _card(self, film: Film) -> Overlay:
        text = textwrap.shorten(film.title, _LONGEST, placeholder="…")
        typeface = fitting_typeface(film.font, text)
        text = typeface.drawable(text)
        size = max(12, round(self.short * 0.092))
        room = self.width - self.short * 0.2
        lines = _wrapped(text, size, room)
        face = typeface.at(size)
        while size > 10 and max(face.getlength(line) for line in lines) > room:
            size = size * 9 // 10
            face = typeface.at(size)
        step, pad = round(size * 1.16), size // 2
        across = _even(max(face.getlength(line) for line in lines) + 2 * pad)
        down = _even(step * len(lines) + 2 * pad)
        ink = Image.new("L", (across, down))
        bold = 0 if typeface.name else max(1, size // 26)
        for row, line in enumerate(lines):
            place = (pad, pad + row * step + step // 2)
            ImageDraw.Draw(ink).text(place, line, 255, face, anchor="lm", stroke_width=bold)
        return overlay(_lit(ink, size, palette(film.genre, "night").accent))

    def _mark(self, film: Film) -> Overlay:
        typeface = fitting_typeface(film.font, film.watermark)
        text = typeface.drawable(film.watermark.strip()[:24])
        size = max(9, round(self.short * 0.034))
        face = typeface.at(size)
        ink = Image.new("L", (_even(face.getlength(text) + size), _even(size * 2)))
        ImageDraw.Draw(ink).text((size // 2, size), text, 255, face, anchor="lm")
        return overlay(_shadowed(ink, size))


def _wrapped(text: str, size: int, room: float) -> list[str]:
    letters = max(8, int(room / (size * 0.56)))
    rows = textwrap.wrap(text, letters)
    if len(rows) > 1:  # lines of about equal length look deliberate
        rows = textwrap.wrap(text, max(8, math.ceil(len(text) / len(rows)) + 3))
    return rows or [text]


def _lit(ink: Image.Image, size: int, accent: tuple[int, int, int]) -> Image.Image:
    picture = _shadowed(ink, size)
    thick = max(2, size // 12)
    corners = [(size // 2, size // 8), (size // 2 + size, size // 8 + thick)]
    ImageDraw.Draw(picture).rectangle(corners, fill=(*accent, 255))
    return picture


def _shadowed(ink: Image.Image, size: int) -> Image.Image:
    soft = ink.filter(ImageFilter.BoxBlur(size / 5)).filter(ImageFilter.BoxBlur(size / 6))
    picture = Image.new("RGBA", ink.size, (6, 8, 16, 0))
    picture.putalpha(soft.point(lambda level: min(200, level * 3 // 2)))
    picture.paste((255, 255, 255, 255), (0, 0), ink)
    return picture


def _even(length: float) -> int:
    return math.ceil(length / 2) * 2
