"""Which clips of a storyboard can be generated now, what they cost by the price list, and whether
the film has to be sent anew for them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from dashboard.shared.clip_models import REFERENCE_LABELS, ClipModel
from dashboard.shared.storyboards.clip_prices import (
    ClipPriceForm,
    clip_price_form,
    clip_price_text,
)
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState, storyboard_model
from dashboard.storyboards.readiness.content import build_content
from dashboard.storyboards.readiness.scene_numbers import list_scenes
from proxyapi.kinds import SCENE_FIELDS, can_take, scenes_by_id
from proxyapi.kinds.storyboard_copy import FIXED_SCENE_FIELDS, SETTING_FIELDS
from proxyapi.models import JobState, Storyboard, StoryboardMode
from proxyapi.refusals import NotReady

SETTING_LABELS = {
    "clip_engine_id": "engine",
    "aspect_ratio": "aspect ratio",
    "resolution": "resolution",
    "audio": "sound",
}
REASONS = {
    SceneState.CHANGED: "changed",
    SceneState.FAILED: "failed",
    SceneState.NO_CLIP: "no clip yet",
}
AGAIN_REASON = "made again"
FINISHED_WHY = "The film is finished, and the service takes no change of a finished film"
CHANGED_WHY = "{scenes} changed. The service cannot change a scene"
DELETED_WHY = "A scene was deleted. The service cannot delete a scene"
SETTING_WHY = "The {setting} changed. The service cannot change it for a film"
ADDED_WHY = "A scene was added. The service takes no more scenes in a film it wrote itself"
OTHER_WHY = "The service has scenes that were not sent from here"
ANEW_TEXT = "{why}, so the film is sent anew and the {clips} made again{price}.{keep}"


@dataclass(frozen=True, slots=True)
class PlannedClip:
    """A scene in the list of clips to generate. `blocked` says why it cannot be chosen now."""

    row: SceneRow
    reason: str
    blocked: str = ""
    is_again: bool = False  # its clip is lost because the film is sent anew

    @property
    def id(self) -> str:
        return str(self.row.scene.pk)

    @property
    def credits(self) -> Decimal | None:
        return self.row.clip_credits

    @property
    def text(self) -> str:
        return f"{self.reason}, {self.row.scene.duration} s"


@dataclass(frozen=True, slots=True)
class ClipPlan:
    """`why_anew` is set if the copy at the service cannot take the storyboard as it is now.

    `is_rendered`: the film is finished and nothing changed since, so no clip is needed.
    """

    clips: tuple[PlannedClip, ...]
    form: ClipPriceForm
    why_anew: str = ""
    keepable: tuple[int, ...] = ()  # numbers of scenes whose clip may be kept instead
    is_rendered: bool = False

    @property
    def choosable(self) -> tuple[PlannedClip, ...]:
        return tuple(clip for clip in self.clips if not clip.blocked)

    @property
    def again(self) -> tuple[PlannedClip, ...]:
        return tuple(clip for clip in self.clips if clip.is_again)

    @property
    def default_ids(self) -> frozenset[str]:
        return frozenset() if self.is_rendered else frozenset(it.id for it in self.choosable)

    def choose(self, ids: Collection[str]) -> tuple[PlannedClip, ...]:
        """Return the clips that can be generated of these scenes."""
        return tuple(clip for clip in self.choosable if clip.id in ids)

    def price_of(self, chosen: Iterable[PlannedClip]) -> Decimal | None:
        """Return their price, 0 if clips are free; None if one has no price."""
        amounts = [clip.credits for clip in chosen]
        if self.form == ClipPriceForm.FREE:
            return Decimal(0)
        known = [amount for amount in amounts if amount is not None]
        return sum(known, Decimal(0)) if len(known) == len(amounts) else None

    @property
    def anew_text(self) -> str:
        """What generating does to the clips that are there, with its price; empty if nothing."""
        if not self.why_anew or not self.again:
            return ""
        count = len(self.again)
        other = " other" if self.keepable else ""
        noun = f"clip of 1{other} scene is" if count == 1 else f"clips of {count}{other} scenes are"
        amount = clip_price_text(self.price_of(self.again), self.form)
        keep = ""
        if self.keepable:
            noun_to_keep = "clip" if len(self.keepable) == 1 else "clips"
            keep = f" Or keep the {noun_to_keep} of {list_scenes(self.keepable, 'scene')}."
        return ANEW_TEXT.format(
            why=self.why_anew,
            clips=noun,
            price=f", {amount}" if amount else "",
            keep=keep,
        )


def plan_clips(storyboard: Storyboard, rows: Sequence[SceneRow]) -> ClipPlan:
    """One query, for what clips cost before."""
    model = storyboard_model(storyboard)
    why, keepable, is_rendered = find_reason_to_send_anew(storyboard, rows)
    clips = (plan_scene(row, model, is_anew=bool(why) or is_rendered) for row in rows)
    return ClipPlan(
        clips=tuple(clip for clip in clips if clip is not None),
        form=clip_price_form(storyboard.account),
        why_anew=why or (FINISHED_WHY if is_rendered else ""),
        keepable=keepable,
        is_rendered=is_rendered,
    )


def plan_scene(row: SceneRow, model: ClipModel | None, *, is_anew: bool) -> PlannedClip | None:
    """Return None for a scene that needs no clip, or whose clip is being made."""
    is_as_sent = row.is_made_with_other_settings or not row.needs_clip
    has_clip = row.clip is not None and row.state != SceneState.FAILED
    is_lost = is_anew and has_clip and is_as_sent
    if row.state == SceneState.NO_PROMPT:
        return PlannedClip(row, "needs a prompt", "not yet", is_lost)
    if not row.needs_clip and not is_lost:
        return None
    blocked = "" if model else "not offered"
    reason = AGAIN_REASON if is_lost else REASONS[row.state]
    if row.nearest_duration is not None:
        reason, blocked = f"not offered in {row.scene.duration} s", "not yet"
    elif missing := missing_frame(row, model):
        reason, blocked = f"needs {missing}", "not yet"
    return PlannedClip(row, reason, blocked, is_lost)


def missing_frame(row: SceneRow, model: ClipModel | None) -> str:
    """Return the picture that the engine needs of this scene, such as `a first frame`."""
    needed = [slot.name for slot in model.slots if slot.is_required] if model else []
    has_first = bool(row.scene.first_frame) or row.scene.is_chained
    if has_first or not {"first_frame", "image"} & set(needed):
        return ""
    return f"a {REFERENCE_LABELS['first_frame'].lower()}"


def find_reason_to_send_anew(
    storyboard: Storyboard, rows: Sequence[SceneRow]
) -> tuple[str, tuple[int, ...], bool]:
    """Return why the copy cannot take the storyboard (empty if it can, or has nothing), the scenes
    whose clip may be kept instead, and whether its film is finished and unchanged."""
    job = storyboard.copy
    sent = job.draft.sent_settings if job is not None and job.draft_or_none else {}
    if job is None or not sent:
        return "", (), False
    try:
        wanted = build_content(storyboard, [row.scene for row in rows], job.draft)
    except NotReady:
        return "", (), False  # no clip can be generated before another engine is chosen
    if job.state == JobState.COMPLETED:
        is_same = without_title(job.draft.settings) == without_title(wanted)
        return ("" if is_same else FINISHED_WHY), (), is_same
    if can_take(sent, wanted):
        return "", (), False
    return *explain_new_copy(sent, wanted, rows), False


def without_title(content: Mapping[str, Any]) -> dict[str, Any]:
    """The title is the portal's own: no film shows it."""
    return {name: value for name, value in content.items() if name != "title"}


def explain_new_copy(
    sent: Mapping[str, Any], wanted: Mapping[str, Any], rows: Sequence[SceneRow]
) -> tuple[str, tuple[int, ...]]:
    setting = next((name for name in SETTING_FIELDS if sent.get(name) != wanted.get(name)), "")
    if setting:
        return SETTING_WHY.format(setting=SETTING_LABELS[setting]), ()
    before, after = scenes_by_id(sent), scenes_by_id(wanted)
    if before.keys() - after.keys():
        return DELETED_WHY, ()
    if sent.get("mode") == StoryboardMode.WIZARD and after.keys() - before.keys():
        return ADDED_WHY, ()
    changed = [row for row in rows if is_fixed_field_changed(row, before, after)]
    if not changed:
        return OTHER_WHY, ()
    numbers = tuple(row.number for row in changed)
    is_keepable = all(row.state == SceneState.CHANGED for row in changed)
    return CHANGED_WHY.format(scenes=list_scenes(numbers)), numbers if is_keepable else ()


def is_fixed_field_changed(
    row: SceneRow, before: Mapping[str, Any], after: Mapping[str, Any]
) -> bool:
    id = str(row.scene.pk)
    sent, wanted = before.get(id), after.get(id, {})
    return sent is not None and any(sent.get(it) != wanted.get(it) for it in FIXED_SCENE_FIELDS)


def clips_version(storyboard: Storyboard, rows: Sequence[SceneRow], ids: Collection[str]) -> str:
    """Return a text that differs if anything that a question about these clips shows changed."""
    job_id = str(storyboard.copy_id or "")
    facts = [
        [str(row.scene.pk), row.state, *(getattr(row.scene, name) for name in SCENE_FIELDS)]
        for row in rows
        if str(row.scene.pk) in ids
    ]
    settings = [storyboard.engine, storyboard.aspect_ratio, storyboard.resolution, storyboard.audio]
    text = json.dumps([job_id, len(rows), settings, facts], default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def with_lost_clips(
    storyboard: Storyboard, rows: Sequence[SceneRow], ids: frozenset[str]
) -> frozenset[str]:
    """Return these scenes, and those whose clips are lost if the film is sent anew for them."""
    return ids | {clip.id for clip in plan_clips(storyboard, rows).again}


def parse_scene_ids(text: str) -> frozenset[str]:
    """Return the ids in a text that separates them by commas; what is no id is left out."""
    found = set()
    for word in text.split(","):
        try:
            found.add(str(UUID(word.strip())))
        except ValueError:
            continue
    return frozenset(found)
