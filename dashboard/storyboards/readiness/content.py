"""What a copy of a storyboard is to contain, as the engine on its account takes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from dashboard.shared.clip_models import ClipModel
from dashboard.shared.storyboards.scene_states import nearest_duration, storyboard_model
from dashboard.shared.video_options import account_options
from proxyapi.kinds import copy_content, scenes_by_id
from proxyapi.models import Draft, Storyboard, StoryboardScene
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.refusals import NotReady

ENGINE_GONE = (
    "The engine of this storyboard is no longer offered on this account. Choose another engine. "
    "Nothing was sent."
)
NO_PROMPT = "Scene {number} has no prompt."
NO_FIRST_FRAME = "Scene {number} has no first frame, which {engine} needs."
WRONG_DURATION = "Scene {number}: {seconds} s is not offered by {engine}. Nearest: {nearest} s."


def build_content(
    storyboard: Storyboard,
    scenes: Iterable[StoryboardScene],
    draft: Draft | None = None,
    *,
    mode: str = "",
) -> dict[str, Any]:
    """What a copy is to contain; `draft` is that of a copy that exists. Raises `NotReady` if the
    engine is not offered any more."""
    model, scenes = storyboard_model(storyboard), list(scenes)
    sent = draft.sent_settings if draft else {}
    return copy_content(
        storyboard,
        scenes,
        find_engine_id(storyboard, model),
        sent,
        mode=mode,
        taken_frames=taken_frames(model),
        unready=find_unready(scenes, model, scenes_by_id(sent).keys()),
    )


def find_engine_id(storyboard: Storyboard, model: ClipModel | None) -> int | str:
    """Return the id of the clip engine on this account. Raises `NotReady`."""
    options = account_options(storyboard.account)
    item = next(iter(options.options_with_slug("clip_engine_id", storyboard.engine)), None)
    if item is None or (model is None and storyboard.account.clip_models):
        raise NotReady(ENGINE_GONE)
    id: int | str = item["id"]
    return id


def engine_name(storyboard: Storyboard) -> str:
    """Return the name of the engine, also of one that the plan does not include; its slug if it is
    not listed anywhere."""
    if model := storyboard_model(storyboard):
        return model.name
    options = account_options(storyboard.account)
    found = options.options_with_slug("clip_engine_id", storyboard.engine)
    return str(found[0].get("name") or storyboard.engine)[:100] if found else storyboard.engine


def taken_frames(model: ClipModel | None) -> tuple[str, ...]:
    """Return the frames that the engine takes; both if its menus are not known."""
    if model is None:
        return FRAME_FIELDS
    slots = {slot.name for slot in model.slots}
    takes = {"first_frame": slots & {"first_frame", "image"}, "last_frame": slots & {"last_frame"}}
    return tuple(name for name in FRAME_FIELDS if takes[name])


def find_unready(
    scenes: list[StoryboardScene], model: ClipModel | None, sent_ids: Collection[str]
) -> Mapping[str, str]:
    """Return why scenes cannot be sent yet, by their ids."""
    reasons = {
        str(scene.pk): unready_reason(number, scene, model)
        for number, scene in enumerate(scenes, start=1)
        # What is kept stays as it was sent.
        if not (scene.kept_at and str(scene.pk) in sent_ids)
    }
    return {id: reason for id, reason in reasons.items() if reason}


def unready_reason(number: int, scene: StoryboardScene, model: ClipModel | None) -> str:
    if not scene.prompt.strip():
        return NO_PROMPT.format(number=number)
    if model is None:
        return ""
    nearest = nearest_duration(model, scene.duration)
    if nearest is not None:
        return WRONG_DURATION.format(
            number=number, seconds=scene.duration, engine=model.name, nearest=nearest
        )
    needs_frame = any(slot.is_required and slot.name != "last_frame" for slot in model.slots)
    starts_on_chain = scene.is_chained and number > 1
    if needs_frame and not starts_on_chain and not scene.first_frame:
        return NO_FIRST_FRAME.format(number=number, engine=model.name)
    return ""
