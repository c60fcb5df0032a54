"""The kept picture of a frame, and the clips of other scenes that a frame can be taken from."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard.shared.storyboards.scene_states import SceneRow
from dashboard.shared.videos.frame_sources import FrameSource
from dashboard.storyboards.queries.tiles import scene_still_url
from proxyapi.kinds import FILE_KEY
from proxyapi.models import StoredFile, StoryboardScene


def find_frame_file(scene: StoryboardScene, name: str) -> StoredFile | None:
    """Return the file of a frame; None without one, or if it is not kept any more."""
    id = (getattr(scene, name) or {}).get(FILE_KEY)
    files = StoredFile.objects.filter(storyboard__tenant=scene.storyboard.tenant_id)
    return files.filter(pk=id).first() if id else None


def build_scene_sources(
    rows: Iterable[SceneRow], scene: StoryboardScene
) -> tuple[FrameSource, ...]:
    """Return the other scenes that have a clip; no query."""
    sources = []
    for row in rows:
        url = scene_still_url(row.clip)
        if row.clip is not None and url and row.scene.pk != scene.pk:
            title = f"Scene {row.number}"
            sources.append(FrameSource(row.clip.pk, title, "", still_url=url, film_url=url))
    return tuple(sources)
