"""The dialog before a change of engine or format that breaks something: rows, what stays, what it
costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dashboard.shared.clip_models import OPTION_LABELS, ClipModel, ModifierMenu
from dashboard.shared.storyboards.clip_prices import ClipPriceForm
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState
from dashboard.storyboards.readiness.scene_numbers import list_scenes
from dashboard.storyboards.readiness.setting_change import (
    FinishCost,
    SceneFit,
    SettingChange,
    SettingFit,
)

MAX_SEGMENTS = 4  # values side by side; more are a menu
STATE_TEXTS: Mapping[SceneState, str] = {
    SceneState.NO_PROMPT: "No prompt yet.",
    SceneState.NO_CLIP: "No clip yet.",
    SceneState.GENERATING: "Being generated.",
    SceneState.FAILED: "Failed, still to be made.",
    SceneState.UNKNOWN: "Its clip is not known.",
    SceneState.CHANGED: "Changed, needs a new clip.",
    SceneState.READY: "Ready, needs a new clip.",
}
COUNT_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
FRAME_NOUNS = {"first_frame": "First frame", "last_frame": "Last frame"}
LOST_TEXT = (
    "The service cannot change {what} of a film, so it is sent anew and {clips} made again. They "
    "stay in the history."
)


@dataclass(frozen=True, slots=True)
class FitChoice:
    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class FitRow:
    """A row of the table. `before` and `after` are credits to finish the scene; None in the row of
    a setting."""

    id: str
    name: str  # of the field
    title: str
    note: str
    now: str
    choices: tuple[FitChoice, ...]
    label: str
    poster_part: Any = None  # the clip whose picture is shown
    is_scene: bool = False
    before: Decimal | None = None
    after: Decimal | None = None

    @property
    def is_menu(self) -> bool:
        return len(self.choices) > MAX_SEGMENTS


@dataclass(frozen=True, slots=True)
class ChangeLine:
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangeTotal:
    label: str
    note: str
    amount: Decimal | None
    is_total: bool = False


@dataclass(frozen=True, slots=True)
class EngineChangePage:
    heading: str
    summary: str
    new_name: str
    rows: tuple[FitRow, ...]
    lines: tuple[ChangeLine, ...]
    totals: tuple[ChangeTotal, ...]
    has_scenes: bool
    sets_durations: bool
    keep_label: str
    apply_label: str
    hidden: Mapping[str, str]
    amount_kind: str  # of `{% amount %}`; what is charged is not known where clips were free
    refusal: str = ""


def build_engine_change(
    change: SettingChange, *, sets_durations: bool = True, refusal: str = ""
) -> EngineChangePage:
    name = change.new.name
    what, to = name_changed_setting(change)
    rows = [setting_row(fit) for fit in change.adjusted]
    return EngineChangePage(
        heading=f"Change the {what} to {to}?",
        summary=" ".join(filter(None, (offer_text(change.new), unfit_text(change))))
        + " Nothing is charged by the change.",
        new_name=name,
        rows=(*(scene_row(fit) for fit in change.scenes), *rows),
        lines=tuple(change_lines(change, what)),
        totals=tuple(change_totals(change)),
        has_scenes=bool(change.scenes),
        sets_durations=sets_durations,
        keep_label=f"Keep {name_kept_setting(change)}",
        apply_label=f"Change to {to}",
        hidden={**change.wanted, "version": change.version},
        amount_kind="exact" if change.price_form == ClipPriceForm.EXACT else "about",
        refusal=refusal,
    )


def name_changed_setting(change: SettingChange) -> tuple[str, str]:
    """Return what was picked and its new value, such as `engine` and `Kestrel`."""
    if change.is_engine_changed:
        return "engine", change.new.name
    name = next(iter(change.wanted))
    menu = change.new.menu(name)
    value = change.settings.get(name, "")
    return OPTION_LABELS[name].lower(), menu.text_of(value) if menu else value


def name_kept_setting(change: SettingChange) -> str:
    if change.is_engine_changed:
        return change.old_name or "the engine"
    return f"the {OPTION_LABELS[next(iter(change.wanted))].lower()}"


def offer_text(model: ClipModel) -> str:
    """Return a text such as `Kestrel makes 5 or 10 s, in 720p or 1080p.`"""
    menus = {menu.name: menu for menu in model.menus}
    lengths = menu_text(menus.get("duration"))
    resolutions = menu_text(menus.get("resolution"))
    if not lengths:
        return ""
    return f"{model.name} makes {lengths}{f', in {resolutions}' if resolutions else ''}."


def menu_text(menu: ModifierMenu | None) -> str:
    """Return the values as a text such as `5 or 10 s`, `2 to 12 s` or `720p or 1080p`."""
    if menu is None:
        return ""
    unit = " s" if menu.name == "duration" else ""
    if menu.is_range:
        return f"{menu.values[0]} to {menu.values[-1]}{unit}"
    *first, last = [str(value) for value in menu.values]
    return f"{', '.join(first)} or {last}{unit}" if first else f"{last}{unit}"


def unfit_text(change: SettingChange) -> str:
    """Return a text such as `Three scenes and the resolution do not fit.`"""
    count = len(change.scenes)
    things = [f"the {fit.label.lower()}" for fit in change.adjusted]
    if count:
        word = COUNT_WORDS[count] if count < len(COUNT_WORDS) else str(count)
        things.insert(0, f"{word} scene{'' if count == 1 else 's'}")
    if not things:
        return ""
    *first, last = things
    text = f"{', '.join(first)} and {last}" if first else last
    is_one = len(things) == 1 and (count == 1 or not count)
    return f"{text[0].upper()}{text[1:]} {'does' if is_one else 'do'} not fit."


def scene_row(fit: SceneFit) -> FitRow:
    row, id = fit.row, str(fit.row.scene.pk)
    return FitRow(
        id=id,
        name=f"duration-{id}",
        title=f"Scene {row.number}",
        note=STATE_TEXTS[row.state],
        now=f"{row.scene.duration} s",
        choices=tuple(FitChoice(str(it), f"{it} s", it == fit.seconds) for it in fit.values),
        label=f"Duration of scene {row.number}",
        poster_part=poster_of(row),
        is_scene=True,
        before=fit.before,
        after=fit.after,
    )


def poster_of(row: SceneRow) -> Any:
    return row.clip if row.clip is not None and row.clip.media_url else None


def setting_row(fit: SettingFit) -> FitRow:
    choices = (FitChoice(str(it), fit.menu.text_of(it), it == fit.value) for it in fit.menu.values)
    return FitRow(
        id=fit.name,
        name=fit.name,
        title=fit.label,
        note="All scenes",
        now=fit.now,
        choices=tuple(choices),
        label=fit.label,
    )


def change_lines(change: SettingChange, what: str) -> Iterator[ChangeLine]:
    adjusted = {fit.name for fit in change.adjusted}
    ratio = change.settings.get("aspect_ratio", "")
    if change.is_engine_changed and ratio and "aspect_ratio" not in adjusted:
        frames = "" if change.unused_frames else " First and last frames stay."
        yield ChangeLine("good", f"{ratio} stays.{frames}")
    for name, numbers in change.unused_frames.items():
        noun = f"{FRAME_NOUNS[name]}{'' if len(numbers) == 1 else 's'}"
        is_ = "is" if len(numbers) == 1 else "are"
        scenes = list_scenes(numbers, "scene")
        yield ChangeLine("late", f"{noun} of {scenes} {is_} kept but not used.")
    if change.fitting and change.scenes:
        fit = "fits as it is" if len(change.fitting) == 1 else "fit as they are"
        yield ChangeLine("good", f"{list_scenes(change.fitting)} {fit}.")
    if change.lost:
        clips = (
            f"the clip of {list_scenes(change.lost, 'scene')} is"
            if len(change.lost) == 1
            else f"the clips of {list_scenes(change.lost, 'scene')} are"
        )
        yield ChangeLine("late", LOST_TEXT.format(what=f"the {what}", clips=clips))


def change_totals(change: SettingChange) -> Iterator[ChangeTotal]:
    before, after = change.before, change.after
    old, new = f"To finish with {before.engine}", f"To finish with {after.engine}"
    if not change.is_engine_changed:
        old, new = "To finish as it is", "To finish after the change"
    yield ChangeTotal(old, clips_text(before), before.credits)
    note = f"{clips_text(after)}. The render is quoted again."
    yield ChangeTotal(new, note, after.credits, is_total=True)


def clips_text(cost: FinishCost) -> str:
    """Return a text such as `5 clips: scenes 2, 4, 6, 7 and 8`."""
    count = len(cost.numbers)
    if not count:
        return "No clip is missing"
    noun = "1 clip" if count == 1 else f"{count} clips"
    listed = list_scenes(cost.numbers, "scene")
    return noun if listed.endswith("scenes") else f"{noun}: {listed}"
