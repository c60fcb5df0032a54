"""The places of a scene's first and last frame, as they are shown."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from dashboard.shared.clip_models import ClipModel
from dashboard.shared.formatting import clock
from dashboard.shared.storyboards.scene_states import SceneRow
from dashboard.storyboards.queries.tiles import scene_still_url
from proxyapi.kinds import FILE_KEY
from proxyapi.models import StoryboardScene

FRAME_LABELS = {"first_frame": "First frame", "last_frame": "Last frame"}


@dataclass(frozen=True, slots=True)
class FrameSlot:
    """`picture_url` is the kept picture, `film_url` the clip whose last frame the chain takes.
    `fixed_note`: why it cannot be changed here."""

    name: str
    label: str
    url: str
    picture_url: str = ""
    film_url: str = ""
    origin: str = ""
    fixed_note: str = ""

    @property
    def is_filled(self) -> bool:
        return bool(self.picture_url)

    @property
    def is_fixed(self) -> bool:
        return bool(self.fixed_note)


def build_frame_slots(
    scene: StoryboardScene, previous: SceneRow | None, engine: ClipModel | None
) -> tuple[FrameSlot, ...]:
    return tuple(build_frame_slot(scene, name, previous, engine) for name in FRAME_LABELS)


def build_frame_slot(
    scene: StoryboardScene,
    name: str,
    previous: SceneRow | None,
    engine: ClipModel | None,
) -> FrameSlot:
    label, frame = FRAME_LABELS[name], getattr(scene, name) or {}
    url = reverse("storyboard-frame", args=[scene.storyboard_id, scene.pk, name])
    is_taken = engine is None or takes_frame(engine, name)
    if name == "first_frame" and scene.is_chained and previous is not None and is_taken:
        film_url = scene_still_url(previous.clip)
        return FrameSlot(name, label, url, film_url=film_url, fixed_note=chain_note(previous))
    picture_url = f"{url}?v={frame[FILE_KEY][:8]}" if frame.get(FILE_KEY) else ""
    origin = str(frame.get("name") or frame.get("title") or "")
    if engine is not None and not is_taken:
        note = f"{engine.name} takes no {label.lower()}."
        kept = f"{origin or 'The picture'} is kept for engines that do." if frame else ""
        return FrameSlot(name, label, url, origin=kept, fixed_note=note)
    return FrameSlot(name, label, url, picture_url=picture_url, origin=origin)


def takes_frame(engine: ClipModel, name: str) -> bool:
    """Whether an engine takes this frame; an engine that takes an image takes it as the first."""
    slots = {slot.name for slot in engine.slots}
    return name in slots or (name == "first_frame" and "image" in slots)


def chain_note(previous: SceneRow) -> str:
    clip = previous.clip
    if clip is None or clip.finished_at is None:
        return f"Last frame of scene {previous.number}, once it has a clip. Set by the chain."
    made = clock(clip.finished_at)
    return f"Last frame of scene {previous.number}, clip of {made}. Set by the chain."
