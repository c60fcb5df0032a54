"""The scene that is picked: its fields, its clip and its frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.shared.clip_models import ClipModel
from dashboard.shared.formatting import clock
from dashboard.shared.storyboards.clip_prices import ClipPriceForm, clip_price_text
from dashboard.shared.storyboards.scene_edits import field_version
from dashboard.shared.storyboards.scene_states import (
    PREVIOUS_CLIP,
    SceneRow,
    SceneState,
    scene_clip_credits,
)
from dashboard.shared.uploads.media_files import MAX_MEDIA_FILE_BYTES
from dashboard.storyboards.queries.slots import FrameSlot, build_frame_slots, takes_frame
from dashboard.storyboards.queries.tiles import STATE_LABELS, scene_still_url, word_count_text
from proxyapi.kinds import MAX_PROMPT_WORDS, MIN_PROMPT_WORDS
from proxyapi.models import Storyboard, StoryboardScene
from proxyapi.models.duration_class import count_words

MAX_LISTED_DURATIONS = 6  # of a range; a longer one is a number field
LONG_STATE_LABELS = {
    SceneState.CHANGED: "Changed since its clip",
    SceneState.NO_CLIP: "No clip yet",
    SceneState.NO_PROMPT: "No prompt yet",
    SceneState.READY: "Ready",
}
ACT_LABELS = {SceneState.NO_CLIP: "Generate", SceneState.FAILED: "Generate again"}
FIELD_WORDS = {
    "prompt": "prompt",
    "duration": "duration",
    "is_chained": "chain",
    "first_frame": "first frame",
    "last_frame": "last frame",
}
PREVIOUS_CLIP_TEXT = "Scene {number} has a new clip. This one starts on the old one."
CHAIN_TEXT = "Starts on the last frame of scene {number}, for one continuous movement."
NOT_CHAINED = "The engine takes no first frame, so the scene is not chained with it."
SETTINGS_CHANGED = "The engine or the format changed. This clip shows the old one."


@dataclass(frozen=True, slots=True)
class DurationChoice:
    seconds: int
    price: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DurationField:
    """`choices` of an engine with few durations; else a number from `minimum` to `maximum`."""

    choices: tuple[DurationChoice, ...]
    minimum: int
    maximum: int
    note: str
    error: str


@dataclass(frozen=True, slots=True)
class SceneTake:
    """The clip in the panel. `about` says when it was made; `lines` what is to know of it: the
    first is what happened."""

    state: str
    film_url: str
    length: str
    about: str
    lines: tuple[str, ...]
    price: str
    act_label: str
    can_keep: bool

    @property
    def version(self) -> str:
        """Identify what is shown of the clip, so that an unchanged one is not drawn again."""
        return field_version(self)

    @property
    def is_quoted(self) -> bool:
        """True if the lines are about something to decide."""
        return self.state in ("late", "failed", "unknown")


@dataclass(frozen=True, slots=True)
class ScenePanel:
    """`versions` are those of the values that are shown, for the form (`SceneForm`)."""

    row: SceneRow
    state: str
    state_label: str
    word_count: str
    word_hint: str
    duration: DurationField
    take: SceneTake
    slots: tuple[FrameSlot, ...]
    versions: dict[str, str]
    takes_first_frame: bool
    previous_id: str
    next_id: str
    count: int
    max_words: int = MAX_PROMPT_WORDS
    max_bytes: int = MAX_MEDIA_FILE_BYTES

    @property
    def scene(self) -> StoryboardScene:
        return self.row.scene

    @property
    def number(self) -> int:
        return self.row.number

    @property
    def previous_number(self) -> int:
        return self.row.number - 1

    @property
    def next_number(self) -> int:
        return self.row.number + 1

    @property
    def chain_note(self) -> str:
        if not self.takes_first_frame:
            return NOT_CHAINED
        return CHAIN_TEXT.format(number=self.previous_number)

    @property
    def can_chain(self) -> bool:
        return self.row.number > 1


def build_panel(
    storyboard: Storyboard,
    rows: Sequence[SceneRow],
    row: SceneRow,
    engine: ClipModel | None,
    form: ClipPriceForm,
) -> ScenePanel:
    """`form` says how certain the prices of clips are."""
    scene, place = row.scene, row.number - 1
    state, label, _ = STATE_LABELS[row.state]
    previous = rows[place - 1] if place else None
    return ScenePanel(
        row=row,
        state=state,
        state_label=LONG_STATE_LABELS.get(row.state, label),
        word_count=word_count_text(scene.prompt),
        word_hint=find_word_hint(scene.prompt),
        duration=build_duration_field(storyboard, row, engine, form),
        take=build_take(row, form),
        slots=build_frame_slots(scene, previous, engine),
        versions=field_versions(scene),
        takes_first_frame=engine is None or takes_frame(engine, "first_frame"),
        previous_id=str(previous.scene.pk) if previous else "",
        next_id=str(rows[place + 1].scene.pk) if place + 1 < len(rows) else "",
        count=len(rows),
    )


def field_versions(scene: StoryboardScene) -> dict[str, str]:
    return {name: field_version(getattr(scene, name)) for name in FIELD_WORDS}


def find_word_hint(prompt: str) -> str:
    """Return what a clip's prompt lacks, in the words the service counts; it decides itself."""
    words = count_words(prompt)
    if words > MAX_PROMPT_WORDS:
        over = words - MAX_PROMPT_WORDS
        return f"{over:,} words too long. The service takes {MAX_PROMPT_WORDS:,} for a clip."
    if 0 < words < MIN_PROMPT_WORDS:
        return f"A clip's prompt has at least {MIN_PROMPT_WORDS} words."
    return ""


def build_duration_field(
    storyboard: Storyboard, row: SceneRow, engine: ClipModel | None, form: ClipPriceForm
) -> DurationField:
    chosen = row.scene.duration
    menu = engine.menu("duration") if engine else None
    lengths = [value for value in menu.values if isinstance(value, int)] if menu else []
    if engine is None or menu is None or not lengths:
        return DurationField((), 1, 60, "The engine's durations are not known yet.", "")
    is_number = menu.is_range and len(lengths) > MAX_LISTED_DURATIONS
    choices = [
        DurationChoice(length, price_text(storyboard, engine, length, form), length == chosen)
        for length in ([] if is_number else lengths)
    ]
    error = ""
    if row.nearest_duration is not None:
        error = f"{chosen} s is not offered by {engine.name}. Nearest: {row.nearest_duration} s."
    note = durations_note(engine, lengths, is_range=is_number)
    if is_number and (price := price_text(storyboard, engine, chosen, form)):
        note = f"{note} {chosen} s: {price}."
    return DurationField(tuple(choices), min(lengths), max(lengths), note, error)


def durations_note(engine: ClipModel, lengths: Sequence[int], *, is_range: bool) -> str:
    """Return a sentence such as `Marlow 02 makes 6 or 10 s.`"""
    if is_range:
        return f"{engine.name} makes {lengths[0]} to {lengths[-1]} s."
    *first, last = map(str, lengths)
    return f"{engine.name} makes {', '.join(first)} or {last} s." if first else f"{last} s only."


def price_text(storyboard: Storyboard, engine: ClipModel, seconds: int, form: ClipPriceForm) -> str:
    """Return what a clip of this length costs, by the price list."""
    return clip_price_text(scene_clip_credits(storyboard, engine, seconds), form)


def build_take(row: SceneRow, form: ClipPriceForm) -> SceneTake:
    clip = row.clip
    film_url = scene_still_url(clip)
    price = clip_price_text(row.clip_credits, form)
    has_film = bool(film_url)
    return SceneTake(
        state=STATE_LABELS[row.state][0],
        film_url=film_url,
        length=f"0:{row.scene.duration:02}" if has_film and row.scene.duration < 60 else "",
        about=f"Clip of {clock(clip.finished_at)}" if clip and clip.finished_at else "",
        lines=take_lines(row, price),
        price=price if row.needs_clip else "",
        act_label=ACT_LABELS.get(row.state, "Regenerate"),
        can_keep=row.can_keep_clip,
    )


def take_lines(row: SceneRow, price: str) -> tuple[str, ...]:
    """Return what happened to the clip, and what can be done."""
    scene, clip = row.scene, row.clip
    if row.state == SceneState.CHANGED:
        cost = f" for {price.replace('≈', 'about')}" if price else ""
        keep = "Keep it, or make a new one" if row.can_keep_clip else "Make a new one"
        return (changed_text(row), f"{keep}{cost}. The old clip stays in the history.")
    if row.state == SceneState.FAILED:
        reason = clip.failure_message if clip else ""
        return (f"“{reason or 'No reason was given.'}”", "Its cost is in the history below.")
    if row.state == SceneState.UNKNOWN:
        return (
            "We do not know whether credits were spent.",
            "The answer got lost. It will not be sent again; the ledger decides.",
        )
    if row.state == SceneState.GENERATING:
        return ("The clip is being made. You can leave this page.",)
    if row.state == SceneState.NO_PROMPT:
        return ("Write what the camera sees, then a clip can be made.",)
    if row.state == SceneState.NO_CLIP:
        return ("Nothing is charged before you generate.",)
    if scene.kept_at and row.changed and scene.kept_by:
        return (f"{scene.kept_by.first_name} kept this clip at {clock(scene.kept_at)}.",)
    return ()


def changed_text(row: SceneRow) -> str:
    """Return which fields changed after the clip, and when."""
    if row.changed == (PREVIOUS_CLIP,):
        return PREVIOUS_CLIP_TEXT.format(number=row.number - 1)
    words = [FIELD_WORDS[name] for name in row.changed if name in FIELD_WORDS]
    if not words:
        return SETTINGS_CHANGED
    *first, last = words
    named = f"{', '.join(first)} and {last}" if first else last
    return f"The {named} changed at {clock(row.scene.edited_at)}. This clip shows the old one."
