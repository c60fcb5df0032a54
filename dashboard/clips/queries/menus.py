"""The rows of the models, and the menus and reference slots of the chosen one, as they are
shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse

from dashboard.shared.clip_models import (
    SHORT_REFERENCE_LABELS,
    SOUND_VALUES,
    ClipModel,
    FittedSettings,
    ModifierMenu,
    ReferenceSlot,
    estimate_from_list,
    reference_origin,
)
from dashboard.shared.formatting import credit_rate, credits
from dashboard.shared.video_options import ratio_shape
from dashboard.shared.videos.cards import film_still_url
from proxyapi.kinds import FILE_KEY

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


@dataclass(frozen=True, slots=True)
class SlotField:
    """A reference slot and what is in it. `preview_url` is a picture, `still_url` a film's."""

    slot: ReferenceSlot
    preview_url: str = ""
    still_url: str = ""
    origin: str = ""
    error: str = ""

    @property
    def is_filled(self) -> bool:
        return bool(self.origin)

    @property
    def frames_url(self) -> str:
        """Return the URL of the dialog that takes it from a finished video."""
        film = "&film=1" if self.slot.takes_film else ""
        return f"{reverse('clip-frames')}?slot={self.slot.name}{film}"

    @property
    def accept(self) -> str:
        return "video/mp4" if self.slot.takes_film else "image/png,image/jpeg,image/webp"

    @property
    def formats(self) -> str:
        return "MP4, up to 20 MB" if self.slot.takes_film else "JPEG, PNG or WebP, up to 20 MB"


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
    order = ("duration", "aspect_ratio", "resolution", "audio")
    menus = sorted(model.offered_menus(chosen), key=lambda menu: order.index(menu.name))
    return tuple(
        build_menu_field(model, menu, chosen, fitted.changed.get(menu.name, "")) for menu in menus
    )


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


def build_slot_field(
    slot: ReferenceSlot, job_id: UUID, chosen: Mapping[str, Any], error: str = ""
) -> SlotField:
    """`job_id` is the draft that the reference is kept with."""
    reference = chosen.get(slot.name)
    if not isinstance(reference, dict):
        return SlotField(slot, error=error)
    if reference.get(FILE_KEY):
        url = reverse("clip-reference", args=[job_id, slot.name])
        origin = reference_origin(reference) or "Your file"
        return SlotField(slot, preview_url=url, origin=origin, error=error)
    still = film_still_url(UUID(reference["job"])) if reference.get("job") else ""
    origin = reference_origin(reference) or "By address"
    return SlotField(slot, still_url=still, origin=origin, error=error)
