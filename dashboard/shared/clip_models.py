"""Text-to-video models: their menus, and the settings that a clip may be made with.

A model is a row of `text_to_video.models`, kept for each account. Values are opaque and sent as the
service spells them (pitfall 108); menus keep the service's order, and its default is chosen first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from dashboard.shared.clip_engines import (
    NO_VALUE,
    ClipEngine,
    menu_lengths,
    menu_values,
    parse_clip_engine,
)
from proxyapi.kinds import OPTION_FIELDS, REFERENCE_FIELDS
from proxyapi.models import Account
from proxyapi.upstream.response_parsing import as_mapping

MenuValue = int | str
OPTION_LABELS = {
    "duration": "Duration",
    "aspect_ratio": "Aspect ratio",
    "resolution": "Resolution",
    "audio": "Sound",
}
REFERENCE_LABELS = {
    "first_frame": "First frame",
    "last_frame": "Last frame",
    "image": "Image",
    "video": "Video",
}
SHORT_REFERENCE_LABELS = {"first_frame": "first", "last_frame": "last"}
SOUND_VALUES = frozenset({"on", "off"})
FRAME_KEY = "frame"  # of a reference in the settings: which frame of the film it is
FRAME_NAMES = ("first", "last")


@dataclass(frozen=True, slots=True)
class ModifierMenu:
    """The values that a model offers for one option, in the service's order."""

    name: str
    values: tuple[MenuValue, ...]
    default: MenuValue

    @property
    def label(self) -> str:
        return OPTION_LABELS[self.name]

    @property
    def is_range(self) -> bool:
        """True if the values are more than two whole numbers without a gap."""
        numbers = [value for value in self.values if isinstance(value, int)]
        return len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1))

    def find(self, value: object) -> MenuValue | None:
        """Return the value with exactly this spelling; None if it is not offered."""
        return next((one for one in self.values if str(one) == str(value)), None)

    def text_of(self, value: object) -> str:
        return option_text(self.name, value)


def option_text(name: str, value: object) -> str:
    """Return a value of an option for a page, such as `8 s` or `with sound`."""
    if name == "duration":
        return f"{value} s"
    if name == "audio" and str(value) in SOUND_VALUES:
        return "with sound" if value == "on" else "no sound"
    return str(value)


@dataclass(frozen=True, slots=True)
class ReferenceSlot:
    """A picture or film that a model takes besides the prompt."""

    name: str
    takes_film: bool
    is_required: bool

    @property
    def label(self) -> str:
        return REFERENCE_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class ClipModel:
    """`engine` has its prices, and the combinations of resolution and sound that have one."""

    slug: str
    engine: ClipEngine
    menus: tuple[ModifierMenu, ...]
    slots: tuple[ReferenceSlot, ...]

    @property
    def name(self) -> str:
        return self.engine.name

    def menu(self, name: str) -> ModifierMenu | None:
        return next((menu for menu in self.menus if menu.name == name), None)

    def offered_menus(self, chosen: Mapping[str, Any]) -> tuple[ModifierMenu, ...]:
        """Return the menus without the values that have no price beside those already chosen: a
        model may make its highest resolution with sound only."""
        resolution = str(chosen.get("resolution") or NO_VALUE)
        return tuple(self.limit_menu(menu, resolution) for menu in self.menus)

    def limit_menu(self, menu: ModifierMenu, resolution: str) -> ModifierMenu:
        def is_priced(value: MenuValue) -> bool:
            if menu.name == "audio":
                return self.engine.price_of(resolution, str(value)) is not None
            sounds = self.engine.sounds or (NO_VALUE,)
            return any(self.engine.price_of(str(value), sound) is not None for sound in sounds)

        if menu.name not in ("resolution", "audio") or not self.engine.prices:
            return menu
        values = tuple(value for value in menu.values if is_priced(value)) or menu.values
        default = menu.default if menu.default in values else values[0]
        return ModifierMenu(menu.name, values, default)

    def rate_of(self, chosen: Mapping[str, Any]) -> Decimal | None:
        """Return credits per second of these settings, by the service's list."""
        resolution, audio = (str(chosen.get(name) or NO_VALUE) for name in ("resolution", "audio"))
        return self.engine.price_of(resolution, audio)

    @property
    def rates(self) -> tuple[Decimal, ...]:
        """Return its lowest and highest price, credits per second; empty if it has none."""
        rates = sorted({price.credits_per_second for price in self.engine.prices})
        return tuple(dict.fromkeys((rates[0], rates[-1]))) if rates else ()


@dataclass(frozen=True, slots=True)
class FittedSettings:
    """Settings that a model offers; `changed`: what it does not offer of those wanted, as it was
    displayed."""

    settings: dict[str, Any]
    changed: dict[str, str]


def account_clip_models(account: Account) -> tuple[ClipModel, ...]:
    """Return the models of an account as last read; a row without a slug is left out."""
    return parse_clip_models(account.clip_models)


def clip_model_name(account: Account, slug: str) -> str:
    """Return the name of a model; its slug if the account does not list it."""
    names = (row.get("name") for row in account.clip_models or () if row.get("slug") == slug)
    return str(next(names, "") or slug)[:100]


def parse_clip_models(rows: Any) -> tuple[ClipModel, ...]:
    known: Iterable[Any] = rows if isinstance(rows, list) else ()
    by_slug = {
        row["slug"]: row
        for row in known
        if isinstance(row, dict) and isinstance(row.get("slug"), str) and row["slug"]
    }
    return tuple(parse_clip_model(slug, row, by_slug) for slug, row in by_slug.items())


def parse_clip_model(
    slug: str, row: dict[str, Any], by_slug: dict[str, dict[str, Any]]
) -> ClipModel:
    menus = as_mapping(row.get("modifiers"))
    options = (parse_menu(name, menus.get(name)) for name in OPTION_FIELDS)
    return ClipModel(
        slug=slug,
        engine=parse_clip_engine({"id": slug, **row}, by_slug, has_models=True),
        menus=tuple(menu for menu in options if menu is not None),
        slots=tuple(parse_slot(name, menus[name]) for name in REFERENCE_FIELDS if menus.get(name)),
    )


def parse_menu(name: str, menu: Any) -> ModifierMenu | None:
    """Return the menu; None if the model has no such menu or its shape is not known: the service
    then uses its default."""
    values: tuple[MenuValue, ...] = menu_lengths(menu) if name == "duration" else menu_values(menu)
    if not values:
        return None
    default = as_mapping(menu).get("default")
    return ModifierMenu(name, values, next((one for one in values if one == default), values[0]))


def parse_slot(name: str, menu: Any) -> ReferenceSlot:
    facts = as_mapping(menu)
    takes_film = facts.get("type", name) == "video"
    return ReferenceSlot(name, takes_film, facts.get("required") is True)


def reference_origin(reference: Mapping[str, Any]) -> str:
    """Return where a reference of a draft is from, such as `Last frame of “Ice”`; "" for an
    uploaded file."""
    title, frame = reference.get("title"), reference.get(FRAME_KEY)
    if not title:
        return ""
    return f"{str(frame).capitalize()} frame of “{title}”" if frame else f"From “{title}”"


def find_clip_model(models: Iterable[ClipModel], slug: object) -> ClipModel | None:
    return next((model for model in models if model.slug == slug), None)


def fit_settings(model: ClipModel, wanted: Mapping[str, Any]) -> FittedSettings:
    """Return the wanted options as far as the model offers them, and its defaults for others."""
    chosen: dict[str, Any] = {"model": model.slug}
    changed: dict[str, str] = {}
    # The resolution decides which sounds have a price.
    order = sorted(model.menus, key=lambda menu: menu.name != "resolution")
    for whole in order:
        menu = model.limit_menu(whole, str(chosen.get("resolution") or NO_VALUE))
        value, found = wanted.get(menu.name), menu.find(wanted.get(menu.name))
        chosen[menu.name] = menu.default if found is None else found
        if value not in (None, "") and found is None:
            changed[menu.name] = menu.text_of(value)
    return FittedSettings(chosen, changed)


def estimate_from_list(model: ClipModel, chosen: Mapping[str, Any]) -> Decimal | None:
    """Return about how many credits the settings cost, by the price per second; the service's own
    estimate is the exact price."""
    rate, seconds = model.rate_of(chosen), chosen.get("duration")
    if rate is None or not isinstance(seconds, int):
        return None
    return (rate * seconds).to_integral_value(rounding=ROUND_CEILING)
