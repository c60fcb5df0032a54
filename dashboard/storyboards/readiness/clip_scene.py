"""What a scene takes over from a clip: its prompt, the nearest duration, its picture."""

from __future__ import annotations

from dashboard.shared.clip_models import ClipModel, find_clip_model
from dashboard.shared.storyboards.scene_states import nearest_duration
from dashboard.shared.storyboards.scene_writing import storyboard_models
from dashboard.shared.videos.frame_sources import film_reference
from proxyapi.models import Account, Job, JobState

DEFAULT_SECONDS = 5  # of a clip whose model has no menu of durations
FIRST_FRAME_SLOTS = frozenset({"first_frame", "image"})


def clip_seconds(job: Job) -> int:
    seconds = job.chosen_settings.get("duration")
    return seconds if isinstance(seconds, int) and seconds > 0 else DEFAULT_SECONDS


def scene_seconds_of(job: Job, model: ClipModel | None) -> int:
    """Return the clip's duration, or the nearest one that the engine makes."""
    seconds = clip_seconds(job)
    return nearest_duration(model, seconds) or seconds


def takes_first_frame(model: ClipModel | None) -> bool:
    """True if the engine takes one, or its menus are not known."""
    return model is None or any(slot.name in FIRST_FRAME_SLOTS for slot in model.slots)


def picture_of(job: Job) -> dict[str, str]:
    """Return the finished clip as a first frame: its address at the service."""
    is_there = job.state == JobState.COMPLETED and job.media_url
    return film_reference(job) if is_there else {}


def engine_for_clip(account: Account, job: Job) -> ClipModel | None:
    """Return the clip's model if storyboards can be made with it on this account, else the first
    one that they can be made with."""
    models = storyboard_models(account)
    own = find_clip_model(models, job.chosen_settings.get("model"))
    return own or next(iter(models), None)
