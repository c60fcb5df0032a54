"""Clip engines: their prices, and the combinations that a video may be rendered with.

An engine is an item of the option group `clip_engines`; its menus are those of the text-to-video
model with the same slug (spec, Clip engine capabilities). Resolutions and audio values are opaque
and compared by their exact spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from proxyapi.upstream.response_parsing import as_mapping, parse_credit_amount

SOUND_LABELS = {"off": "Sound off", "on": "Sound on"}
NO_VALUE = ""  # a resolution or an audio value that the engine has no menu for


@dataclass(frozen=True, slots=True)
class ClipPrice:
    """A price entry; None applies to every resolution or audio value (spec, clip_engines)."""

    credits_per_second: Decimal
    resolution: str | None
    audio: str | None

    def matches(self, resolution: str, audio: str) -> bool:
        return self.resolution in (None, resolution) and self.audio in (None, audio)

    @property
    def detail(self) -> int:
        """Return how much it specifies: of two entries that match, the more specific applies."""
        return (self.resolution is not None) + (self.audio is not None)


@dataclass(frozen=True, slots=True)
class ClipCombination:
    """A resolution with an audio value. Without a price it is not offered."""

    resolution: str
    audio: str
    credits_per_second: Decimal | None

    @property
    def value(self) -> str:
        """Return its text in a form."""
        return f"{self.resolution}/{self.audio}"

    @property
    def name(self) -> str:
        """Return a text such as `720p, sound on`; empty if the engine has no menus."""
        sound = sound_label(self.audio)
        return ", ".join(filter(None, (self.resolution, sound[:1].lower() + sound[1:])))


@dataclass(frozen=True, slots=True)
class ClipEngine:
    """`aspect_ratios` and `lengths` are empty if they are not known. `is_in_plan`: the service
    offers its model to the account."""

    upstream_value: int | str
    name: str
    description: str
    resolutions: tuple[str, ...]
    sounds: tuple[str, ...]
    aspect_ratios: tuple[str, ...]
    lengths: tuple[int, ...]
    prices: tuple[ClipPrice, ...]
    is_in_plan: bool = True

    @property
    def value(self) -> str:
        return str(self.upstream_value)

    @property
    def combinations(self) -> tuple[ClipCombination, ...]:
        """Return every resolution with every audio value, also those that are not offered."""
        return tuple(
            ClipCombination(resolution, audio, self.price_of(resolution, audio))
            for audio in self.sounds or (NO_VALUE,)
            for resolution in self.resolutions or (NO_VALUE,)
        )

    @property
    def offered(self) -> dict[str, ClipCombination]:
        """Return the combinations with a price, by their text."""
        priced = (one for one in self.combinations if one.credits_per_second is not None)
        return {one.value: one for one in priced}

    def price_of(self, resolution: str, audio: str) -> Decimal | None:
        matching = [price for price in self.prices if price.matches(resolution, audio)]
        best = max(matching, key=lambda price: price.detail, default=None)
        return best.credits_per_second if best else None

    def makes_ratio(self, ratio: str) -> bool:
        """True if it makes this format, or its formats are not known."""
        return not ratio or not self.aspect_ratios or ratio in self.aspect_ratios

    @property
    def lengths_text(self) -> str:
        """Return a text such as `4, 6 or 8 s a clip` or `1 to 15 s a clip`."""
        *first, last = [str(seconds) for seconds in self.lengths] or [""]
        if not last:
            return ""
        is_range = len(first) > 1 and self.lengths[-1] - self.lengths[0] == len(first)
        listed = f"{first[0]} to {last}" if is_range else " or ".join((*[", ".join(first)], last))
        return f"{listed if first else last} s a clip"


def sound_label(audio: str) -> str:
    """Return `Sound on` or `Sound off`; an unknown value as the service spells it."""
    return SOUND_LABELS.get(audio, f"Sound {audio}" if audio else "")


def find_nearest_lower(
    engines: Iterable[ClipEngine], engine_value: str, price: Decimal | None
) -> tuple[ClipEngine, ClipCombination] | None:
    """Return the combination with the nearest price that is not above `price`, in credits per
    second; without one the lowest. The engine `engine_value` comes before the others.

    None if there is no combination, or only one of another engine and `price` is not known.
    """
    offers = [(one, offer) for one in engines for offer in one.offered.values()]
    own = [offer for offer in offers if offer[0].value == engine_value]
    others = offers if price is not None else []

    def price_of(offer: tuple[ClipEngine, ClipCombination]) -> Decimal:
        return offer[1].credits_per_second or Decimal(0)

    for pool in (own, others):
        lower = [offer for offer in pool if price is not None and price_of(offer) <= price]
        if lower:
            return max(lower, key=price_of)
    return min(own or others, key=price_of, default=None)


def parse_clip_engines(
    items: Iterable[dict[str, Any]], models: Any, formats: Set[str] | None = None
) -> tuple[ClipEngine, ...]:
    """Return the engines of the options.

    `models`: the stored text-to-video models, empty if they are not known; an engine without a
    model is then taken from its prices alone. `formats`: the values that a draft's format can have;
    if no engine names one of them, they cannot be compared and count as not known.
    """
    rows = [row for row in models if isinstance(row, dict)] if isinstance(models, list) else []
    by_slug = {str(row.get("slug") or ""): row for row in rows}
    engines = tuple(parse_clip_engine(item, by_slug, bool(rows)) for item in items)
    named = {ratio for engine in engines for ratio in engine.aspect_ratios}
    if formats is not None and not named & formats:
        return tuple(replace(engine, aspect_ratios=()) for engine in engines)
    return engines


def parse_clip_engine(
    item: dict[str, Any], models: dict[str, dict[str, Any]], has_models: bool
) -> ClipEngine:
    slug = str(item.get("slug") or "")
    model = models.get(slug) if slug else None
    prices = parse_clip_prices(item.get("cost")) or parse_clip_prices((model or {}).get("cost"))
    menus = as_mapping((model or {}).get("modifiers"))
    resolutions = menu_values(menus.get("resolution")) or priced_values(prices, "resolution")
    sounds = menu_values(menus.get("audio")) or priced_values(prices, "audio")
    return ClipEngine(
        upstream_value=item["id"],
        name=str(item.get("name") or slug or item["id"])[:100],
        description=str(item.get("description") or "")[:300],
        resolutions=tuple(sorted(resolutions, key=leading_number)),
        sounds=tuple(sorted(sounds, key=lambda audio: audio != "off")),
        aspect_ratios=menu_values(menus.get("aspect_ratio")),
        lengths=menu_lengths(menus.get("duration")),
        prices=prices,
        is_in_plan=model is not None or not has_models,
    )


def parse_clip_prices(cost: Any) -> tuple[ClipPrice, ...]:
    """Return the readable price entries; an entry without a price is left out."""
    entries = [entry for entry in cost if isinstance(entry, dict)] if isinstance(cost, list) else []
    prices = ((parse_credit_amount(entry.get("credits_per_second")), entry) for entry in entries)
    return tuple(
        ClipPrice(price, option_text(entry, "resolution"), option_text(entry, "audio"))
        for price, entry in prices
        if price is not None and price >= 0
    )


def option_text(entry: dict[str, Any], name: str) -> str | None:
    value = entry.get(name)
    return value if isinstance(value, str) and value else None


def priced_values(prices: Iterable[ClipPrice], name: str) -> tuple[str, ...]:
    values = (getattr(price, name) for price in prices)
    return tuple(dict.fromkeys(value for value in values if value))


def menu_values(menu: Any) -> tuple[str, ...]:
    """Return the values of a modifier menu: a list, or an object with `options`."""
    options = menu.get("options") if isinstance(menu, dict) else menu
    values = options if isinstance(options, list) else []
    return tuple(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def menu_lengths(menu: Any) -> tuple[int, ...]:
    """Return the lengths in seconds: fixed ones, or every second of a range."""
    options = menu.get("options") if isinstance(menu, dict) else menu
    if isinstance(options, list):
        amounts = [parse_credit_amount(option) for option in options]
        return tuple(sorted({int(amount) for amount in amounts if amount}))
    ends = [parse_credit_amount(as_mapping(menu).get(name)) for name in ("min", "max")]
    low, high = (int(end) if end is not None else 0 for end in ends)
    return tuple(range(low, high + 1)) if 0 < low <= high <= 60 else ()


def leading_number(value: str) -> tuple[int, str]:
    digits = re.match(r"\d+", value)
    return (int(digits[0]) if digits else 0, value)
