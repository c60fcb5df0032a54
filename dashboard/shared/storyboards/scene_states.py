"""The scenes of a storyboard with the state of each: what of it was sent, its clip, its price."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from dashboard.shared.clip_models import (
    ClipModel,
    account_clip_models,
    estimate_from_list,
    find_clip_model,
)
from proxyapi.kinds import SCENE_CLIPS_OPERATION, changed_fields, scenes_by_id
from proxyapi.models import Charge, ChargeState, Job, JobPart, Storyboard, StoryboardScene
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.models.job_part import SCENE_CLIPS, PartState

SCENES_LIST = SCENE_CLIPS
CLIPS_OPERATION = SCENE_CLIPS_OPERATION


class SceneState(StrEnum):
    NO_PROMPT = "no_prompt"
    NO_CLIP = "no_clip"
    GENERATING = "generating"
    FAILED = "failed"
    UNKNOWN = "unknown"  # it is not known whether the clip was ordered
    CHANGED = "changed"  # a field changed after the clip
    READY = "ready"


@dataclass(frozen=True, slots=True)
class SceneRow:
    """`clip` is the clip in the current copy; `changed` are the fields that differ from what was
    sent for it; `clip_credits` what a clip costs by the price list; `nearest_duration` is set if
    the engine does not make the scene's duration."""

    scene: StoryboardScene
    number: int
    state: SceneState
    clip: JobPart | None = None
    changed: tuple[str, ...] = ()
    clip_credits: Decimal | None = None
    nearest_duration: int | None = None

    @property
    def needs_clip(self) -> bool:
        return self.state in (SceneState.NO_CLIP, SceneState.FAILED, SceneState.CHANGED)


def storyboard_model(storyboard: Storyboard) -> ClipModel | None:
    """Return the clip engine with its menus; None if the plan does not offer it any more."""
    return find_clip_model(account_clip_models(storyboard.account), storyboard.engine)


def load_scene_rows(storyboard: Storyboard) -> tuple[SceneRow, ...]:
    """Return the scenes in the order of the film; three queries at most."""
    scenes = storyboard.scenes.select_related("edited_by", "kept_by")
    job = storyboard.copy
    sent = scenes_by_id(job.draft.sent_settings) if job and job.draft_or_none else {}
    return build_scene_rows(storyboard, scenes, sent, load_clips(job), load_order_states(job))


def build_scene_rows(
    storyboard: Storyboard,
    scenes: Iterable[StoryboardScene],
    sent: Mapping[str, Mapping[str, Any]],
    clips: Mapping[str, JobPart],
    order_states: Mapping[str, ChargeState],
) -> tuple[SceneRow, ...]:
    """`sent` are the scenes of the copy and `order_states` the states of open orders of clips, by
    the scene's id here; `clips` those of the copy by their id there."""
    model, rows = storyboard_model(storyboard), []
    for number, scene in enumerate(scenes, start=1):
        entry = sent.get(str(scene.pk), {})
        clip = clips.get(str(entry.get("remote_id", "")))
        changed = changed_fields(scene, entry) if entry else ()
        rows.append(
            SceneRow(
                scene=scene,
                number=number,
                state=scene_state(scene, clip, changed, order_states.get(str(scene.pk))),
                clip=clip,
                changed=changed,
                clip_credits=scene_clip_credits(storyboard, model, scene.duration),
                nearest_duration=nearest_duration(model, scene.duration),
            )
        )
    return tuple(rows)


def scene_state(
    scene: StoryboardScene,
    clip: JobPart | None,
    changed: tuple[str, ...],
    order_state: ChargeState | None,
) -> SceneState:
    if order_state == ChargeState.UNKNOWN:
        return SceneState.UNKNOWN
    if order_state is not None or (clip is not None and clip.state == PartState.RUNNING):
        return SceneState.GENERATING
    if not scene.prompt.strip():
        return SceneState.NO_PROMPT
    if clip is None:
        return SceneState.NO_CLIP
    if clip.state == PartState.FAILED:
        return SceneState.FAILED
    return SceneState.CHANGED if changed and not scene.kept_at else SceneState.READY


def load_clips(job: Job | None) -> dict[str, JobPart]:
    """Return the clips of a copy by the scene's id at the service."""
    if job is None:
        return {}
    return {part.remote_id: part for part in job.parts.filter(list_name=SCENES_LIST)}


def load_order_states(job: Job | None) -> dict[str, ChargeState]:
    """Return the state of the open order of each scene's clip, by the scene's id here."""
    if job is None:
        return {}
    orders = Charge.objects.filter(job=job, operation=CLIPS_OPERATION, state__in=HOLDING_STATES)
    return {id: ChargeState(order.state) for order in orders for id in order.body.get("scenes", ())}


def scene_clip_credits(
    storyboard: Storyboard, model: ClipModel | None, seconds: int
) -> Decimal | None:
    """Return what a clip of this length costs by the price list, in whole credits."""
    if model is None:
        return None
    chosen = {name: getattr(storyboard, name) for name in ("resolution", "audio")}
    return estimate_from_list(model, {**chosen, "duration": seconds})


def nearest_duration(model: ClipModel | None, seconds: int) -> int | None:
    """Return the nearest duration the engine makes, the shorter one of two; None if it makes this
    one, or its durations are not known."""
    menu = model.menu("duration") if model else None
    lengths = [value for value in menu.values if isinstance(value, int)] if menu else []
    if not lengths or seconds in lengths:
        return None
    return min(lengths, key=lambda length: (abs(length - seconds), length))
