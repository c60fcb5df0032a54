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
from dashboard.shared.video_options import account_options
from proxyapi.kinds import SCENE_CLIPS_OPERATION, changed_fields, scenes_by_id
from proxyapi.kinds.storyboard_copy import SETTING_FIELDS
from proxyapi.models import Charge, ChargeState, Job, JobPart, Storyboard, StoryboardScene
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.models.job_part import SCENE_CLIPS, PartState

SETTING_NAMES = frozenset(SETTING_FIELDS)
PREVIOUS_CLIP = "previous_clip"  # of `changed`: the clip that a chained scene starts on is new


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
    """`clip` is the clip in the current copy; `changed` are the fields and settings that differ
    from what was sent for it, and `PREVIOUS_CLIP`; `clip_credits` what a clip costs by the price
    list; `nearest_duration` is set if the engine does not make the scene's duration."""

    scene: StoryboardScene
    number: int
    state: SceneState
    clip: JobPart | None = None
    changed: tuple[str, ...] = ()
    clip_credits: Decimal | None = None
    nearest_duration: int | None = None

    @property
    def is_made_with_other_settings(self) -> bool:
        """True if its clip is of another engine or format: the service makes the film anew."""
        return bool(SETTING_NAMES & set(self.changed))

    @property
    def can_keep_clip(self) -> bool:
        return self.state == SceneState.CHANGED and not self.is_made_with_other_settings

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
    content = job.draft.sent_settings if job and job.draft_or_none else {}
    return build_scene_rows(
        storyboard,
        scenes,
        scenes_by_id(content),
        load_clips(job),
        load_order_states(job),
        changed_settings(storyboard, content),
    )


def changed_settings(storyboard: Storyboard, sent: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the settings that differ from those that the copy was sent with; none if nothing was
    sent, or the engine is not offered any more."""
    if not sent:
        return ()
    options = account_options(storyboard.account)
    found = options.options_with_slug("clip_engine_id", storyboard.engine)
    now = {name: getattr(storyboard, name) for name in ("aspect_ratio", "resolution", "audio")}
    if found:
        now["clip_engine_id"] = found[0]["id"]
    return tuple(name for name, value in now.items() if sent.get(name) != value)


def build_scene_rows(
    storyboard: Storyboard,
    scenes: Iterable[StoryboardScene],
    sent: Mapping[str, Mapping[str, Any]],
    clips: Mapping[str, JobPart],
    order_states: Mapping[str, ChargeState],
    other_settings: tuple[str, ...] = (),
) -> tuple[SceneRow, ...]:
    """`sent` are the scenes of the copy and `order_states` the states of open orders of clips, by
    the scene's id here; `clips` those of the copy by their id there; `other_settings` the settings
    that changed after it was sent."""
    model, rows = storyboard_model(storyboard), []
    previous: JobPart | None = None
    for number, scene in enumerate(scenes, start=1):
        entry = sent.get(str(scene.pk), {})
        clip = clips.get(str(entry.get("remote_id", "")))
        changed = (*changed_fields(scene, entry), *other_settings) if entry else ()
        if starts_on_old_clip(scene, clip, previous):
            changed = (*changed, PREVIOUS_CLIP)
        previous = clip
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
    is_kept = scene.kept_at is not None and not SETTING_NAMES & set(changed)
    return SceneState.CHANGED if changed and not is_kept else SceneState.READY


def starts_on_old_clip(
    scene: StoryboardScene, clip: JobPart | None, previous: JobPart | None
) -> bool:
    """Whether a chained scene continues from a clip that was ordered anew since: a chain takes the
    last frame of the clip that is there when its own is made."""
    if not scene.is_chained or clip is None or previous is None:
        return False
    if previous.state != PartState.COMPLETED or not (clip.charge and previous.charge):
        return False
    return previous.charge.created_at > clip.charge.created_at


def load_clips(job: Job | None) -> dict[str, JobPart]:
    """Return the clips of a copy by the scene's id at the service."""
    if job is None:
        return {}
    parts = job.parts.filter(list_name=SCENE_CLIPS).select_related("charge")
    return {part.remote_id: part for part in parts}


def load_order_states(job: Job | None) -> dict[str, ChargeState]:
    """Return the state of the open order of each scene's clip, by the scene's id here."""
    if job is None:
        return {}
    orders = Charge.objects.filter(
        job=job, operation=SCENE_CLIPS_OPERATION, state__in=HOLDING_STATES
    ).exclude(state=ChargeState.UNKNOWN, applied_at__isnull=False)  # done: its cost is pending
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
