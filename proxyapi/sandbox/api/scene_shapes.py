"""Shapes of answers about storyboards, for /openapi.json."""

from __future__ import annotations

from pydantic import BaseModel

from proxyapi.sandbox.api.shapes import CreditsMeta, Envelope, VideoShape


class SettingsShape(BaseModel):
    clip_engine_id: int
    aspect_ratio: str
    resolution: str
    audio: str | None


class SceneShape(BaseModel):
    id: int
    position: int
    raw_video_prompt: str
    duration: int
    first_frame: str | None
    last_frame: str | None
    chained: bool
    clip: VideoShape | None


class StoryboardShape(BaseModel):
    id: int
    mode: str
    title: str | None
    prompt: str | None
    settings: SettingsShape
    scenes: list[SceneShape]
    video: VideoShape
    created_at: str
    updated_at: str


StoryboardShown = Envelope[StoryboardShape]


class StoryboardCharged(StoryboardShown):
    """`meta` is there when the call charged, which is a setting."""

    meta: CreditsMeta | None = None


class StoryboardPrice(BaseModel):
    cost: int
    available: int
    sufficient: bool
    duration: int
    scenes: int
