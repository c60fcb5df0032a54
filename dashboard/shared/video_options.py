"""The options that the service offers for a faceless video, as last read (spec, Faceless option
groups).

Ids and slugs are opaque and differ between environments: they are offered as they came and never
hard-coded. Both layers of the answer are read; an item without a value to send is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.utils.text import slugify

from dashboard.shared.clip_engines import ClipEngine, parse_clip_engines, sound_label
from proxyapi.models import Account

# Groups that are not in the answer, but read from its clip engines.
RESOLUTION_GROUP, SOUND_GROUP = "clip resolutions", "clip sounds"
# Draft field: its option group, and the key of an item that is sent (spec, Faceless option
# groups).
OPTION_FIELDS: dict[str, tuple[str, str]] = {
    "aspect_ratio": ("aspect_ratios", "slug"),
    "voice_id": ("voices", "id"),
    "genre_id": ("genres", "id"),
    "image_engine_id": ("image_engines", "id"),
    "font": ("fonts", "slug"),
    "transition": ("transitions", "slug"),
    "caption_effect": ("caption_effects", "slug"),
    "caption_position": ("caption_positions", "slug"),
    "overlay": ("overlays", "slug"),
    "watermark_position": ("watermark_positions", "slug"),
    "animation": ("animations", "slug"),
    "sfx": ("sfx", "slug"),
    "volume": ("volumes", "slug"),
    "background_id": ("backgrounds", "id"),
    "clip_engine_id": ("clip_engines", "id"),
    "character_id": ("characters", "uuid"),
    # Of the clip engine; the values of all engines, of which not every one fits every engine.
    "resolution": (RESOLUTION_GROUP, "slug"),
    "audio": (SOUND_GROUP, "slug"),
}
ASPECT_RATIO_RE = re.compile(r"^(\d{1,3})[:x/_-](\d{1,3})$")
FORMAT_ICON_PX = 22  # the longer side of a drawn format
WAVEFORM_BARS = 24


@dataclass(frozen=True, slots=True)
class OptionChoice:
    """An allowed value: `upstream_value` is sent to the service, `value` is its text in a form."""

    upstream_value: int | str
    name: str
    note: str = ""
    slug: str = ""

    @property
    def value(self) -> str:
        return str(self.upstream_value)

    @property
    def shape(self) -> tuple[float, float] | None:
        """Return width and height in px of a drawn format; None if the slug contains no ratio."""
        return ratio_shape(self.value)


@dataclass(frozen=True, slots=True)
class VoiceOption:
    upstream_value: int | str
    name: str
    language: str
    gender: str

    @property
    def value(self) -> str:
        return str(self.upstream_value)

    @property
    def note(self) -> str:
        return ", ".join(filter(None, (self.language, self.gender)))

    @property
    def languages(self) -> list[str]:
        """Return the languages of a list such as `English, German`."""
        return [part.strip() for part in self.language.split(",") if part.strip()]

    @property
    def waveform(self) -> tuple[tuple[int, float, float], ...]:
        """Return x, y and height of the decorative bars beside a voice with a sample."""
        heights = [
            4 + byte % 17 for byte in hashlib.sha256(self.name.encode()).digest()[:WAVEFORM_BARS]
        ]
        return tuple((4 * bar, 12 - high / 2, high) for bar, high in enumerate(heights))


@dataclass(frozen=True, slots=True)
class FacelessOptions:
    """The option groups of an account; empty until they were read."""

    groups: dict[str, list[dict[str, Any]]]
    clip_engines: tuple[ClipEngine, ...] = ()
    withdrawn_voice_ids: frozenset[str] = frozenset()  # the service offers them, the team does not

    def __bool__(self) -> bool:
        return any(self.groups.values())

    def choices(self, field: str) -> tuple[OptionChoice, ...]:
        group, key = OPTION_FIELDS[field]
        return tuple(
            OptionChoice(item[key], option_label(item), option_note(group, item), option_slug(item))
            for item in self.usable_items(group, key)
        )

    def voices(self) -> tuple[VoiceOption, ...]:
        return tuple(
            VoiceOption(
                item["id"],
                option_label(item),
                clean_option_text(item.get("language")),
                clean_option_text(item.get("gender")),
            )
            for item in self.usable_items("voices", "id")
        )

    def languages(self) -> tuple[str, ...]:
        return tuple(sorted({language for voice in self.voices() for language in voice.languages}))

    def unready_characters(self) -> tuple[str, ...]:
        """Return the names of the characters that cannot be used yet, such as those in training."""
        items = self.groups.get("characters", [])
        return tuple(option_label(item) for item in items if not is_usable("characters", item))

    def clip_engine(self, value: object) -> ClipEngine | None:
        """Return the clip engine with this id; None if the service does not offer it."""
        return next((one for one in self.clip_engines if one.value == str(value)), None)

    def selected_choice(self, field: str, chosen: dict[str, Any]) -> OptionChoice | None:
        """Return the draft's choice; None if it has none or the service no longer offers it."""
        value = str(chosen.get(field) or "")
        return next((choice for choice in self.choices(field) if choice.value == value), None)

    def usable_items(self, group: str, key: str) -> Iterable[dict[str, Any]]:
        for item in self.groups.get(group, []):
            has_value = isinstance(item.get(key), int | str) and str(item[key])
            if has_value and is_usable(group, item):
                yield item

    def find_option(self, field: str, value: object) -> dict[str, Any] | None:
        """Return the item that has this value; None if the service does not offer it."""
        group, key = OPTION_FIELDS[field]
        items = self.usable_items(group, key)
        return next((item for item in items if str(item[key]) == str(value)), None)

    def options_with_slug(self, field: str, slug: str) -> list[dict[str, Any]]:
        """Return the items with this slug; several if the service shows no slugs (voices) and two
        have the same name."""
        group, key = OPTION_FIELDS[field]
        return [item for item in self.usable_items(group, key) if option_slug(item) == slug]


def is_usable(group: str, item: dict[str, Any]) -> bool:
    """False for a character that is not trained yet (spec, States and transitions)."""
    return group != "characters" or item.get("status", "ready") == "ready"


def ratio_shape(ratio: str) -> tuple[float, float] | None:
    """Return width and height in px of a drawn ratio such as `16:9`; None if it is no ratio."""
    found = ASPECT_RATIO_RE.match(ratio)
    if not found or "0" in found.groups():
        return None
    wide, high = int(found[1]), int(found[2])
    longest = max(wide, high)
    return round(FORMAT_ICON_PX * wide / longest, 1), round(FORMAT_ICON_PX * high / longest, 1)


def option_slug(item: dict[str, Any]) -> str:
    """Return what an item is called on every upstream: its slug, else one from its name (a voice
    has none). Empty if it has neither, because ids differ between upstreams."""
    slug = item.get("slug")
    if isinstance(slug, str) and slug.strip():
        return slug.strip()[:100]
    name = clean_option_text(item.get("name") or item.get("label"))
    return slugify(name, allow_unicode=True) or name.lower()


def account_options(account: Account) -> FacelessOptions:
    """Return the options of an account, with the menus of its clip engines, without the voices
    whose consent was withdrawn."""
    known = parse_faceless_options(account.options, account.clip_models)
    withdrawn = frozenset(account.withdrawn_voice_ids)
    if not withdrawn:
        return known
    voices = [one for one in known.groups.get("voices", []) if str(one.get("id")) not in withdrawn]
    return replace(known, groups={**known.groups, "voices": voices}, withdrawn_voice_ids=withdrawn)


def parse_faceless_options(data: Any, clip_models: Any = ()) -> FacelessOptions:
    """Read the stored answers; a group may be in either layer."""
    groups: dict[str, list[dict[str, Any]]] = {}
    layers = [data, data.get("mandatory"), data.get("optional")] if isinstance(data, dict) else []
    for layer in layers:
        for name, items in layer.items() if isinstance(layer, dict) else ():
            if isinstance(items, list):
                groups[name] = [item for item in items if isinstance(item, dict)]
    known = FacelessOptions(groups)
    formats = {choice.value for choice in known.choices("aspect_ratio")}
    engines = parse_clip_engines(
        known.usable_items("clip_engines", "id"), clip_models, formats or None
    )
    if engines:
        resolutions = dict.fromkeys(value for one in engines for value in one.resolutions)
        sounds = dict.fromkeys(value for one in engines for value in one.sounds)
        groups[RESOLUTION_GROUP] = [{"slug": value} for value in resolutions]
        groups[SOUND_GROUP] = [{"slug": value, "name": sound_label(value)} for value in sounds]
    return FacelessOptions(groups, engines)


def option_label(item: dict[str, Any]) -> str:
    return clean_option_text(
        item.get("name") or item.get("label") or item.get("slug") or item.get("id")
    )


def option_note(group: str, item: dict[str, Any]) -> str:
    if group == "aspect_ratios":
        return clean_option_text(item.get("slug"))
    cost = item.get("cost")
    if group == "image_engines" and isinstance(cost, int):
        return "Standard price" if cost == 1 else f"{cost} times the standard price"
    if group == "characters":
        gender = clean_option_text(item.get("gender"))
        return "" if gender == "unknown" else gender
    return ""


def clean_option_text(value: object) -> str:
    return str(value or "").strip()[:100]
