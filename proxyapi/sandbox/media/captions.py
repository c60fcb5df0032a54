"""Burnt-in captions: at most two lines, inside the margins, in step with the voice."""

from __future__ import annotations

import functools
import itertools
import math
import unicodedata

from PIL import Image, ImageDraw, ImageFilter

from proxyapi.sandbox.media import titles
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.fonts import Face, Typeface, fitting_typeface
from proxyapi.sandbox.media.palettes import Colour, palette
from proxyapi.sandbox.media.planes import Overlay, Planes, overlay
from proxyapi.sandbox.media.storyline import Phrase

_MARGIN = 0.06  # of the shorter side, kept free on every edge
_LINES = 2
_PLACES = {"top": 0.16, "center": 0.5, "bottom": 0.84}


class Captions:
    """All captions of one film, drawn when first needed."""

    def __init__(self, film: Film, phrases: tuple[Phrase, ...], size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.phrases = phrases
        self.effect = film.caption_effect
        self.short = min(size)
        self.place = _PLACES.get(film.caption_position, _PLACES["bottom"])
        words = " ".join(word.text for phrase in phrases for word in phrase.words)
        self.typeface = fitting_typeface(film.font, words)
        edges = (_MARGIN / 2, _MARGIN / 2 + titles.MARK_ROOM)
        self.above = edges[titles.has_watermark_at(film, "top")] * self.short
        self.below = edges[titles.has_watermark_at(film, "bottom")] * self.short
        self.accent = _bright(palette(film.genre, "night").second)
        self._drawn = functools.lru_cache(maxsize=24)(self._draw)

    @staticmethod
    def letters(size: tuple[int, int]) -> int:
        """How many letters a caption may have so that two lines hold it."""
        room = size[0] - 2 * _MARGIN * min(size)
        return max(12, min(34, int(room / (_text_size(size) * 0.62) * 1.4)))

    def box(self, number: int) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of a caption at rest."""
        left, top = self._corner(self._drawn(number, -1, 100))
        across, down = self._drawn(number, -1, 100).size
        return left, top, left + across, top + down

    def put(self, target: Planes, time: float) -> None:
        """Draw what is said at `time` (seconds) into the frame."""
        number = self._current(time)
        if number is None:
            return
        phrase = self.phrases[number]
        age, left = time - phrase.start, phrase.end - time
        lit, size, opacity, drop = -1, 100, 1.0, 0.0
        if self.effect == "karaoke":
            lit = max(n for n, word in enumerate(phrase.words) if n == 0 or word.start <= time)
        elif self.effect == "pop":
            size = _popped(age)
        elif self.effect == "fade":
            opacity = min(1.0, age / 0.18 + 0.15, left / 0.12 + 0.15)
        elif self.effect == "rise":
            opacity = min(1.0, age / 0.16 + 0.2)
            drop = self.short * 0.035 * (1 - min(1.0, age / 0.2)) ** 2
        drawn = self._drawn(number, lit, size)
        x, y = self._corner(drawn)
        drawn.put(target, (x, min(y + drop, self.height - drawn.size[1])), opacity)

    def _current(self, time: float) -> int | None:
        for number, phrase in enumerate(self.phrases):
            if phrase.start <= time < phrase.end:
                return number
        return None

    def _corner(self, drawn: Overlay) -> tuple[int, int]:
        across, down = drawn.size
        top = self.height * self.place - down / 2
        top = min(max(top, self.above), self.height - down - self.below)
        return (self.width - across) // 4 * 2, round(top / 2) * 2

    def _draw(self, number: int, lit: int, percent: int) -> Overlay:
        texts = [self.typeface.drawable(word.text) for word in self.phrases[number].words]
        room = self.width - 2 * _MARGIN * self.short
        size = _text_size((self.width, self.height)) * percent // 100
        lines = _lines(texts, self.typeface, size, room)
        while size > 9 and (
            len(lines) > _LINES or _widest(lines, texts, self.typeface, size) > room
        ):
            size = size * 9 // 10
            lines = _lines(texts, self.typeface, size, room)
        return overlay(self._lettering(texts, lines, size, lit))

    def _lettering(
        self, texts: list[str], lines: list[list[int]], size: int, lit: int
    ) -> Image.Image:
        face = self.typeface.at(size)
        pad, step = size // 2, round(size * 1.26)
        widths = [_wide(face, " ".join(texts[n] for n in line)) for line in lines]
        across = math.ceil((max(widths, default=0) + 2 * pad) / 2) * 2
        down = math.ceil((step * len(lines) + pad) / 2) * 2
        ink = Image.new("L", (across, down))
        glow = Image.new("L", (across, down))
        bold = self._boldness(size)
        for row, line in enumerate(lines):
            x = (across - widths[row]) / 2
            y = pad // 2 + row * step + step * 0.5
            for n in (line[place] for place in visual_order([texts[n] for n in line])):
                spot = glow if n == lit else ink
                ImageDraw.Draw(spot).text(
                    (x, y), texts[n], 255, face, anchor="lm", stroke_width=bold
                )
                x += _wide(face, texts[n] + " ")
        return self._coloured(ink, glow, size)

    def _coloured(self, ink: Image.Image, glow: Image.Image, size: int) -> Image.Image:
        both = Image.new("L", ink.size)
        both.paste(ink, (0, 0))
        both.paste(255, (0, 0), glow)
        picture = Image.new("RGBA", ink.size, (8, 8, 14, 0))
        if self.effect == "box":
            pen = ImageDraw.Draw(picture)
            corners = [(1, 1), (ink.width - 2, ink.height - 2)]
            pen.rounded_rectangle(corners, size // 3, fill=(10, 12, 20, 190))
        else:
            rim = both.filter(ImageFilter.MaxFilter(max(3, size // 16 * 2 + 1)))
            soft = both.filter(ImageFilter.BoxBlur(size / 7)).point(lambda v: min(255, v * 2))
            shadow = Image.new("L", ink.size)
            shadow.paste(soft.point(lambda v: v * 3 // 5), (0, max(1, size // 20)))
            shadow.paste(225, (0, 0), rim.filter(ImageFilter.BoxBlur(0.8)))
            picture.putalpha(shadow)
        picture.paste((255, 255, 255, 255), (0, 0), ink)
        picture.paste((*self.accent, 255), (0, 0), glow)
        return picture

    def _boldness(self, size: int) -> int:
        """Pillow's own face is light; a thin stroke in the same colour makes it bold."""
        return 0 if self.typeface.name else max(1, size // 28)


def _text_size(size: tuple[int, int]) -> int:
    share = 0.074 if size[0] > size[1] else 0.082
    return max(10, round(min(size) * share))


def _popped(age: float) -> int:
    """Per cent of the full size: in from 78, over to 105, back to 100 within 0.2 s."""
    steps = (78, 92, 103, 105, 102)
    place = int(age * 24)
    return steps[place] if 0 <= place < len(steps) else 100


def _lines(texts: list[str], typeface: Typeface, size: int, room: float) -> list[list[int]]:
    """Word numbers per line, the lines about equally long."""
    face = typeface.at(size)
    whole = _wide(face, " ".join(texts))
    wanted = whole if whole <= room * 0.8 else max(whole / 2 * 1.04, min(room, whole / _LINES))
    lines: list[list[int]] = [[]]
    for n in range(len(texts)):
        longer = " ".join(texts[m] for m in [*lines[-1], n])
        limit = min(room, wanted + _wide(face, texts[n]) / 2)
        if lines[-1] and _wide(face, longer) > limit:
            lines.append([n])
        else:
            lines[-1].append(n)
    return lines


def visual_order(words: list[str]) -> list[int]:
    """The places of a line's words from left to right. The first word with a direction gives that
    of the line; words of the other direction that stand together keep their own order."""
    directions = [_is_right_to_left(word) for word in words]
    is_line_rtl = next((one for one in directions if one is not None), False)
    runs = [
        (is_rtl, [place for place, _ in run])
        for is_rtl, run in itertools.groupby(
            enumerate(directions), lambda pair: is_line_rtl if pair[1] is None else pair[1]
        )
    ]
    ordered = runs[::-1] if is_line_rtl else runs
    return [place for is_rtl, run in ordered for place in (run[::-1] if is_rtl else run)]


def _is_right_to_left(word: str) -> bool | None:
    """None for a word without letters or digits."""
    kinds = [unicodedata.bidirectional(letter) for letter in word]
    return next((kind in ("R", "AL") for kind in kinds if kind in ("L", "R", "AL", "EN")), None)


def _widest(lines: list[list[int]], texts: list[str], typeface: Typeface, size: int) -> float:
    face = typeface.at(size)
    return max(_wide(face, " ".join(texts[n] for n in line)) for line in lines)


def _wide(face: Face, text: str) -> float:
    return float(face.getlength(text))


def _bright(colour: Colour) -> Colour:
    """The colour lifted until it is readable on a dark rim."""
    lift = max(0, 190 - max(colour))
    red, green, blue = (min(255, part + lift) for part in colour)
    return red, green, blue
