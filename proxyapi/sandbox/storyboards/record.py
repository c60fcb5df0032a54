"""The storyboard as the API shows it (spec: Storyboard)."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import media_url
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.storyboards.rows import Scene, Storyboard


def show_storyboard(call: ApiCall, board: Storyboard) -> dict[str, Any]:
    """The whole record. Every `url` is set only when it can be played."""
    ready = board.status == "completed" and board.file
    return {
        "id": board.id,
        "mode": board.mode,
        "title": board.title,
        "prompt": board.prompt,
        "settings": board.settings,
        "scenes": [_scene(call, it, place) for place, it in enumerate(board.scenes, start=1)],
        "video": {
            "status": board.status or call.world.settings.draft_status,
            "url": media_url.build_media_url(call, str(board.file)) if ready else None,
            "failure": board.failure,
        },
        "created_at": format_iso(board.created_at),
        "updated_at": format_iso(board.updated_at),
    }


def _scene(call: ApiCall, scene: Scene, position: int) -> dict[str, Any]:
    shown = scene.model_dump(exclude={"clip"})
    clip = None
    if scene.clip is not None:
        file = scene.clip.file
        clip = {
            "status": scene.clip.status,
            "url": media_url.build_media_url(call, file) if file else None,
            "failure": scene.clip.failure,
        }
    return {**shown, "position": position, "clip": clip}
