"""The film's own line: engine and format, and what the film comes to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.clip_models import ClipModel, account_clip_models
from dashboard.shared.formatting import duration
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.clip_prices import ClipPriceForm, clip_price_text
from dashboard.shared.storyboards.scene_states import SceneRow, storyboard_model
from dashboard.storyboards.readiness.content import engine_name
from dashboard.storyboards.readiness.film import FilmReadiness, load_readiness
from dashboard.storyboards.readiness.needs import SETTING_NAMES, unoffered_settings
from proxyapi.models import Storyboard

NOTHING_MISSING = "none"
LABELS = {
    "engine": "Engine",
    "aspect_ratio": "Aspect ratio",
    "resolution": "Resolution",
    "audio": "Sound",
}


@dataclass(frozen=True, slots=True)
class SettingOption:
    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SettingChip:
    """`options` is empty if there is nothing to choose. `nearest` is set if the engine does not
    offer the value."""

    name: str
    label: str
    text: str
    options: tuple[SettingOption, ...]
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class FilmBar:
    chips: tuple[SettingChip, ...]
    length: str
    missing: str  # price of the clips that are missing
    render: str
    left: int
    url: str


def build_film_bar(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    reader: Membership,
    ready: FilmReadiness | None = None,
) -> FilmBar:
    """Three queries, none if the caller has the readiness."""
    ready = ready or load_readiness(storyboard, rows)
    can_edit = has_permission(reader, Permission.RENDER) and not ready.is_rendering
    model = storyboard_model(storyboard)
    return FilmBar(
        chips=tuple(build_chips(storyboard, model, can_edit=can_edit)),
        length=duration(timedelta(seconds=sum(row.scene.duration for row in rows))),
        missing=missing_text(ready),
        render=clip_price_text(ready.render.price, ClipPriceForm.EXACT),
        left=ready.left,
        url=reverse("storyboard-settings", args=[storyboard.pk]),
    )


def missing_text(ready: FilmReadiness) -> str:
    plan = ready.plan
    chosen = plan.choose(plan.default_ids)
    return clip_price_text(plan.price_of(chosen), plan.form) if chosen else NOTHING_MISSING


def build_chips(
    storyboard: Storyboard, model: ClipModel | None, *, can_edit: bool
) -> Iterable[SettingChip]:
    models = account_clip_models(storyboard.account)
    engines = [SettingOption(it.slug, it.name, it.slug == storyboard.engine) for it in models]
    name = engine_name(storyboard) or "none"
    yield SettingChip(
        name="engine",
        label=LABELS["engine"],
        text=name,
        options=choosable(engines, storyboard.engine, name, can_edit=can_edit),
        is_refused=model is None,
    )
    refused = unoffered_settings(storyboard, model) if model else []
    chosen = {name: getattr(storyboard, name) for name in SETTING_NAMES}
    menus = {menu.name: menu for menu in model.offered_menus(chosen)} if model else {}
    for setting, value in chosen.items():
        menu = menus.get(setting)
        if menu is None and not value:
            continue
        values = menu.values if menu else ()
        texts = [
            SettingOption(str(it), menu.text_of(it) if menu else str(it), str(it) == value)
            for it in values
        ]
        text = menu.text_of(value) if menu and value else value
        yield SettingChip(
            name=setting,
            label=LABELS[setting],
            text=text or "none",
            options=choosable(texts, value, text, can_edit=can_edit),
            is_refused=setting in refused,
        )


def choosable(
    options: list[SettingOption], value: str, text: str, *, can_edit: bool
) -> tuple[SettingOption, ...]:
    """Return the options, with the present one if it is not offered; none if there is only one."""
    if not can_edit:
        return ()
    if not any(option.is_chosen for option in options):
        options = [SettingOption(value, text, True), *options]
    return tuple(options) if len(options) > 1 else ()
