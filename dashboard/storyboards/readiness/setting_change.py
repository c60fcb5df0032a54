"""A change of the engine, the format or the sound: which scenes and settings do not fit it, the
nearest that does, and what the film costs to finish before and after."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dashboard.shared.clip_engines import leading_number
from dashboard.shared.clip_models import (
    OPTION_LABELS,
    ClipModel,
    MenuValue,
    ModifierMenu,
    account_clip_models,
    find_clip_model,
)
from dashboard.shared.storyboards.clip_prices import ClipPriceForm
from dashboard.shared.storyboards.scene_states import (
    SceneRow,
    SceneState,
    nearest_duration,
    scene_clip_credits,
    storyboard_model,
)
from dashboard.shared.video_options import ASPECT_RATIO_RE
from dashboard.storyboards.readiness.clip_plan import ClipPlan, plan_clips
from dashboard.storyboards.readiness.content import engine_name, taken_frames
from dashboard.storyboards.readiness.needs import SETTING_NAMES
from proxyapi.models import Storyboard
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.refusals import NotReady

SETTING_COLUMNS = ("engine", *SETTING_NAMES)
ENGINE_WITHDRAWN = (
    "{engine} is no longer in your plan. The storyboard keeps its engine. Pick another one."
)
VALUE_NOT_OFFERED = "{value} is not offered by {engine}. Nothing was changed."


@dataclass(frozen=True, slots=True)
class SceneFit:
    """A scene whose duration the engine does not make: `seconds` is what it would get."""

    row: SceneRow
    seconds: int
    values: tuple[int, ...]
    before: Decimal | None  # credits to finish it
    after: Decimal | None


@dataclass(frozen=True, slots=True)
class SettingFit:
    """A setting whose value is not offered: `value` is the nearest, or what was chosen instead."""

    name: str
    now: str
    menu: ModifierMenu
    value: MenuValue

    @property
    def label(self) -> str:
        return OPTION_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class FinishCost:
    """What it takes to finish the film: the scenes that need a clip, in credits."""

    engine: str
    numbers: tuple[int, ...]
    credits: Decimal | None


@dataclass(frozen=True, slots=True)
class SettingChange:
    """`settings` are the columns as they would be; `wanted` is what was picked."""

    wanted: Mapping[str, str]
    settings: Mapping[str, str]
    old: ClipModel | None
    old_name: str
    new: ClipModel
    scenes: tuple[SceneFit, ...]
    adjusted: tuple[SettingFit, ...]
    fitting: tuple[int, ...]  # numbers of scenes that fit as they are
    lost: tuple[int, ...]  # numbers of scenes whose clip is lost
    unused_frames: Mapping[str, tuple[int, ...]]
    before: FinishCost
    after: FinishCost
    version: str
    price_form: ClipPriceForm

    @property
    def is_engine_changed(self) -> bool:
        return self.old is None or self.old.slug != self.new.slug

    @property
    def breaks_something(self) -> bool:
        return bool(self.scenes or self.adjusted or self.lost or self.unused_frames)


def build_setting_change(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    wanted: Mapping[str, str],
    durations: Mapping[str, int] | None = None,
) -> SettingChange:
    """`wanted` are columns that were picked, `durations` seconds by the scene's id. One query.
    Raises `NotReady` if the engine or a picked value is not offered."""
    models = account_clip_models(storyboard.account)
    slug = wanted.get("engine") or storyboard.engine
    new, old = find_clip_model(models, slug), storyboard_model(storyboard)
    if new is None:
        gone = Storyboard(account=storyboard.account, engine=slug)
        raise NotReady(ENGINE_WITHDRAWN.format(engine=engine_name(gone)))
    fits = fit_menus(storyboard, new, wanted)
    settings = {"engine": new.slug, **{name: str(value) for name, value in fits.items()}}
    changed = changed_storyboard(storyboard, settings)
    scenes = tuple(fit_scenes(storyboard, changed, rows, new, durations or {}))
    lost = tuple(row.number for row in rows if row.state in (SceneState.READY, SceneState.CHANGED))
    plan = plan_clips(storyboard, rows)
    is_same = all(getattr(storyboard, name) == value for name, value in settings.items())
    new_seconds = {str(fit.row.scene.pk): fit.seconds for fit in scenes}
    return SettingChange(
        wanted=wanted,
        settings=settings,
        old=old,
        old_name=engine_name(storyboard),
        new=new,
        scenes=scenes,
        adjusted=tuple(find_adjusted_settings(storyboard, new, settings, wanted)),
        fitting=tuple(row.number for row in rows if str(row.scene.pk) not in new_seconds),
        lost=() if is_same else lost,
        unused_frames=find_unused_frames(rows, old, new),
        before=cost_now(storyboard, rows, old, plan),
        after=cost_after(changed, rows, new, new_seconds),
        version=settings_version(storyboard, rows),
        price_form=plan.form,
    )


def fit_menus(
    storyboard: Storyboard, model: ClipModel, wanted: Mapping[str, str]
) -> dict[str, MenuValue]:
    """Return the value of each setting: the picked one, else the present or the nearest one. The
    resolution comes first, because it decides which sounds have a price. Raises `NotReady`."""
    chosen: dict[str, MenuValue] = dict.fromkeys(SETTING_NAMES, "")
    for name in ("resolution", "aspect_ratio", "audio"):
        menu = model.menu(name)
        if menu is None:
            continue
        if name == "audio":
            menu = model.limit_menu(menu, str(chosen["resolution"]))
        picked = wanted.get(name) or ""
        value = menu.find(picked or getattr(storyboard, name))
        if value is None and picked:
            text = VALUE_NOT_OFFERED.format(value=menu.text_of(picked), engine=model.name)
            raise NotReady(text, name)
        chosen[name] = value if value is not None else nearest_value(menu, storyboard)
    return chosen


def nearest_value(menu: ModifierMenu, storyboard: Storyboard) -> MenuValue:
    """Return the value nearest to the present one, the lower of two; the engine's default if they
    cannot be compared."""
    now = str(getattr(storyboard, menu.name))
    measure = {"resolution": resolution_lines, "aspect_ratio": ratio_log}.get(menu.name)
    at = measure(now) if measure and now else None
    if measure is None or at is None:
        return menu.default
    measured = [(place, one) for one in menu.values if (place := measure(str(one))) is not None]
    if not measured:
        return menu.default
    return min(measured, key=lambda pair: (abs(pair[0] - at), pair[0]))[1]


def resolution_lines(value: str) -> float | None:
    return leading_number(value)[0] or None


def ratio_log(value: str) -> float | None:
    """Return how wide a format is, on a scale on which 16:9 and 9:16 are equally far from 1:1."""
    found = ASPECT_RATIO_RE.match(value)
    if not found or "0" in found.groups():
        return None
    return math.log(int(found[1]) / int(found[2]))


def changed_storyboard(storyboard: Storyboard, settings: Mapping[str, str]) -> Storyboard:
    """Return the storyboard as it would be; it is not saved."""
    values = {name: getattr(storyboard, name) for name in SETTING_COLUMNS}
    return Storyboard(account=storyboard.account, **{**values, **settings})


def fit_scenes(
    storyboard: Storyboard,
    changed: Storyboard,
    rows: Sequence[SceneRow],
    model: ClipModel,
    durations: Mapping[str, int],
) -> list[SceneFit]:
    menu = model.menu("duration")
    lengths = tuple(value for value in menu.values if isinstance(value, int)) if menu else ()
    fits = []
    for row in rows:
        nearest = nearest_duration(model, row.scene.duration)
        if nearest is None:
            continue
        picked = durations.get(str(row.scene.pk))
        seconds = picked if picked in lengths else nearest
        before = Decimal(0) if is_finished(row) else finish_credits(storyboard, row)
        after = scene_clip_credits(changed, model, seconds)
        fits.append(SceneFit(row, seconds, lengths, before, after))
    return fits


def is_finished(row: SceneRow) -> bool:
    """True if the scene has its clip, or it is being made."""
    done = (SceneState.READY, SceneState.GENERATING, SceneState.UNKNOWN)
    return row.state in done


def finish_credits(storyboard: Storyboard, row: SceneRow) -> Decimal | None:
    """Return what the scene's clip costs with the present engine, at the nearest length."""
    seconds = row.nearest_duration or row.scene.duration
    return scene_clip_credits(storyboard, storyboard_model(storyboard), seconds)


def find_adjusted_settings(
    storyboard: Storyboard,
    model: ClipModel,
    settings: Mapping[str, str],
    wanted: Mapping[str, str],
) -> list[SettingFit]:
    """Return the settings whose present value the new engine does not offer."""
    found = []
    for name in SETTING_NAMES:
        menu, now = model.menu(name), getattr(storyboard, name)
        if menu is None or not now:
            continue
        menu = model.limit_menu(menu, settings["resolution"])
        value = menu.find(settings[name])
        is_own_pick = "engine" not in wanted and name in wanted
        if menu.find(now) is None and not is_own_pick and value is not None:
            found.append(SettingFit(name, menu.text_of(now), menu, value))
    return found


def find_unused_frames(
    rows: Sequence[SceneRow], old: ClipModel | None, new: ClipModel
) -> dict[str, tuple[int, ...]]:
    """Return the scenes whose frames the present engine takes and the new one does not, by
    frame."""
    dropped = [it for it in taken_frames(old) if it not in taken_frames(new)]
    with_frames = {
        name: tuple(row.number for row in rows if getattr(row.scene, name))
        for name in FRAME_FIELDS
        if name in dropped
    }
    return {name: numbers for name, numbers in with_frames.items() if numbers}


def cost_now(
    storyboard: Storyboard, rows: Sequence[SceneRow], model: ClipModel | None, plan: ClipPlan
) -> FinishCost:
    again = {clip.id for clip in plan.again}
    unfinished = [row for row in rows if not is_finished(row) or str(row.scene.pk) in again]
    amounts = [finish_credits(storyboard, row) for row in unfinished]
    return build_finish_cost(storyboard, model, unfinished, amounts)


def cost_after(
    changed: Storyboard, rows: Sequence[SceneRow], model: ClipModel, seconds: Mapping[str, int]
) -> FinishCost:
    """Every clip is made anew: the service takes no change of the settings of a film."""
    lengths = [seconds.get(str(row.scene.pk), row.scene.duration) for row in rows]
    amounts = [scene_clip_credits(changed, model, length) for length in lengths]
    return build_finish_cost(changed, model, rows, amounts)


def build_finish_cost(
    storyboard: Storyboard,
    model: ClipModel | None,
    rows: Sequence[SceneRow],
    amounts: Sequence[Decimal | None],
) -> FinishCost:
    known = [amount for amount in amounts if amount is not None]
    total = sum(known, Decimal(0)) if len(known) == len(amounts) else None
    name = model.name if model else engine_name(storyboard)
    return FinishCost(name, tuple(row.number for row in rows), total)


def settings_version(storyboard: Storyboard, rows: Sequence[SceneRow]) -> str:
    """Return a text that differs if the settings or a duration changed, or a scene came or went."""
    facts: list[Any] = [getattr(storyboard, name) for name in SETTING_COLUMNS]
    facts += [[str(row.scene.pk), row.scene.duration] for row in rows]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
