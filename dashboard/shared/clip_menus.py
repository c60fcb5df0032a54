"""Models in rows, and the menus of the chosen one, as a clip and a storyboard show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.shared.clip_models import (
    SHORT_REFERENCE_LABELS,
    SOUND_VALUES,
    ClipModel,
    FittedSettings,
    ModifierMenu,
    estimate_from_list,
)
from dashboard.shared.formatting import credit_rate, credits
from dashboard.shared.video_options import ratio_shape

OPTION_ORDER = ("duration", "aspect_ratio", "resolution", "audio")
MAX_LISTED_VALUES = 6  # of a range; a longer one is a number field
NO_REFERENCES = "None"


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What a model does, in a few words each; `rate` is credits per second."""

    slug: str
    name: str
    description: str
    lengths: str
    resolutions: str
    sound: str
    references: str
    rate: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class MenuChoice:
    value: str
    text: str
    note: str
    shape: tuple[float, float] | None
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class MenuField:
    """`style`: only (a sentence), switch, number, shapes or values. `changed_from`: the value that
    the chosen model does not offer."""

    name: str
    label: str
    style: str
    choices: tuple[MenuChoice, ...]
    note: str = ""
    value: str = ""
    minimum: str = ""
    maximum: str = ""
    changed_from: str = ""

    @property
    def is_on(self) -> bool:
        return self.value == "on"


def build_model_row(model: ClipModel, chosen_slug: str) -> ModelRow:
    engine = model.engine
    sounds = engine.sounds
    rates = [credit_rate(rate) for rate in model.rates]
    short = [SHORT_REFERENCE_LABELS.get(slot.name, slot.name) for slot in model.slots]
    resolutions = engine.resolutions
    return ModelRow(
        slug=model.slug,
        name=model.name,
        description=engine.description,
        lengths=lengths_text(model),
        resolutions=f"{resolutions[0]} to {resolutions[-1]}"
        if len(resolutions) > 2
        else ", ".join(resolutions),
        sound="Yes" if "on" in sounds else ", ".join(sounds) or "No",
        references=", ".join(short).capitalize() or NO_REFERENCES,
        rate=" to ".join(rates),
        is_chosen=model.slug == chosen_slug,
    )


def lengths_text(model: ClipModel) -> str:
    menu = model.menu("duration")
    if menu is None:
        return ""
    if menu.is_range:
        return f"{menu.values[0]} to {menu.values[-1]} s"
    return f"{', '.join(map(str, menu.values))} s"


def build_menu_fields(model: ClipModel, fitted: FittedSettings) -> tuple[MenuField, ...]:
    chosen = fitted.settings
    menus = sorted(model.offered_menus(chosen), key=lambda menu: OPTION_ORDER.index(menu.name))
    return tuple(
        build_menu_field(model, menu, chosen, fitted.changed.get(menu.name, "")) for menu in menus
    )


def build_format_fields(model: ClipModel, fitted: FittedSettings) -> tuple[MenuField, ...]:
    """Return the menus that hold for a whole storyboard: all but the duration. Its resolutions say
    what a second costs."""
    menus = (menu for menu in build_menu_fields(model, fitted) if menu.name != "duration")
    return tuple(
        replace(menu, choices=tuple(add_rate(model, one, fitted.settings) for one in menu.choices))
        if menu.name == "resolution"
        else menu
        for menu in menus
    )


def add_rate(model: ClipModel, choice: MenuChoice, chosen: Mapping[str, Any]) -> MenuChoice:
    rate = model.rate_of({**chosen, "resolution": choice.value})
    return replace(choice, note=f"{credit_rate(rate)} cr per s" if rate is not None else "")


def build_menu_field(
    model: ClipModel, menu: ModifierMenu, chosen: Mapping[str, Any], changed_from: str
) -> MenuField:
    value = str(chosen.get(menu.name) or "")
    style = menu_style(menu)
    return MenuField(
        name=menu.name,
        label=menu.label,
        style=style,
        choices=tuple(build_choice(model, menu, one, chosen) for one in menu.values),
        note=only_value_note(model, menu, chosen)
        if style == "only"
        else menu_note(model, menu, chosen),
        value=value,
        minimum=str(menu.values[0]),
        maximum=str(menu.values[-1]),
        changed_from=changed_from,
    )


def menu_style(menu: ModifierMenu) -> str:
    if len(menu.values) == 1:
        return "only"
    if menu.name == "audio" and set(menu.values) == SOUND_VALUES:
        return "switch"
    if menu.is_range and len(menu.values) > MAX_LISTED_VALUES:
        return "number"
    return "shapes" if menu.name == "aspect_ratio" else "values"


def build_choice(
    model: ClipModel, menu: ModifierMenu, value: int | str, chosen: Mapping[str, Any]
) -> MenuChoice:
    note, text = "", menu.text_of(value)
    if menu.name == "duration":
        about = estimate_from_list(model, {**chosen, "duration": value})
        note = f"≈ {credits(about)} cr" if about is not None else ""
    if menu.name == "aspect_ratio" and value == "auto":
        text = "Auto"
    shape = ratio_shape(str(value)) if menu.name == "aspect_ratio" else None
    return MenuChoice(str(value), text, note, shape, chosen.get(menu.name) == value)


def only_value_note(model: ClipModel, menu: ModifierMenu, chosen: Mapping[str, Any]) -> str:
    """Return a sentence such as `1080p, the only one Halden Max offers.`"""
    text = menu.text_of(menu.values[0])
    whole, beside = model.menu(menu.name), ""
    if whole is not None and len(whole.values) > 1 and chosen.get("resolution"):
        beside = f" at {chosen['resolution']}"
    return f"{text[:1].upper()}{text[1:]}, the only one {model.name} offers{beside}."


def menu_note(model: ClipModel, menu: ModifierMenu, chosen: Mapping[str, Any]) -> str:
    """Return what a switch changes in the price; for a number its range."""
    if menu.name == "duration":
        return f"{menu.values[0]} to {menu.values[-1]} s"
    if menu_style(menu) != "switch":
        return ""
    rates = [model.rate_of({**chosen, "audio": audio}) for audio in ("on", "off")]
    if None in rates:
        return ""
    with_sound, without = (credit_rate(rate) for rate in rates if rate is not None)
    return f"{with_sound} cr per second with sound, {without} without."
