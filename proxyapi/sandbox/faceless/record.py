"""The faceless record as the API shows it (spec: Faceless video)."""

from __future__ import annotations

from typing import Any

from proxyapi.sandbox import dialect, media_url
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.clock import format_iso
from proxyapi.sandbox.records import Asset, Video

DEFAULTS: dict[str, Any] = {
    "voice_id": None,
    "genre_id": None,
    "image_engine_id": None,
    "clip_engine_id": None,
    "background_id": None,
    "character_id": None,
    "resolution": None,
    "audio": None,
    "aspect_ratio": "16:9",
    "captions": True,
    "font": "aileron",
    "caption_effect": "pop",
    "caption_position": "bottom",
    "transition": "fade",
    "overlay": None,
    "watermark_position": None,
    "animation": None,
    "sfx": None,
    "volume": "low",
}


def video_settings(video: Video) -> dict[str, Any]:
    return DEFAULTS | video.settings


def show_video(call: ApiCall, video: Video) -> dict[str, Any]:
    """The whole record with its embedded video. `url` is set only when it can be played."""
    ready = video.status == "completed" and video.file
    return {
        "id": video.id,
        "video_id": video.video_id,
        "type": video.type,
        "title": video.title,
        "topic": video.topic,
        "script": video.script,
        **dialect.show_captions(call.world.settings.dialect, video_settings(video)),
        "assets": [_asset(call, asset, n) for n, asset in enumerate(video.assets, start=1)],
        "video": {
            "status": video.status or call.world.settings.draft_status,
            "url": media_url.build_media_url(call, str(video.file)) if ready else None,
            "failure": video.failure,
            **(_thumbnail(call, video) if ready else {}),
        },
        "exports": [_export(call, export) for export in video.exports],
        "created_at": format_iso(video.created_at),
        "updated_at": format_iso(video.updated_at),
    }


def _thumbnail(call: ApiCall, video: Video) -> dict[str, str]:
    """A field that the spec does not name, and only for a video without pictures of its own."""
    if video.poster is None:
        return {}
    return {"thumbnail_url": media_url.build_media_url(call, video.poster)}


def _asset(call: ApiCall, asset: Asset, position: int) -> dict[str, Any]:
    takes_order = call.world.settings.asset_order == "taken"
    shown = asset.model_dump(exclude={"file", "roll"} if takes_order else {"file", "roll", "used"})
    whole = {**shown, "position": position, "url": media_url.build_media_url(call, asset.file)}
    return dialect.show_asset(call.world.settings.dialect, whole)


def _export(call: ApiCall, export: dict[str, Any]) -> dict[str, Any]:
    file = export["file"]
    return {
        "id": export["id"],
        "status": export["status"],
        "url": media_url.build_media_url(call, file) if file else None,
        "failure": export["failure"],
    }
