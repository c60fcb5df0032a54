"""The rows of a storyboard. Durations are whole seconds; instants as in `records`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from proxyapi.sandbox.records import Row


class SceneClip(BaseModel):
    """The clip of one scene. `paid` are the credits that a charge took for it."""

    status: str
    file: str | None = None
    failure: dict[str, str] | None = None
    job_id: int
    paid: int = 0
    charge_id: int | None = None

    @property
    def is_in_progress(self) -> bool:
        return self.status not in ("completed", "failed")


class Scene(BaseModel):
    """`chained`: it goes on where the scene before it ends."""

    id: int
    raw_video_prompt: str
    duration: int
    first_frame: str | None = None
    last_frame: str | None = None
    chained: bool = False
    clip: SceneClip | None = None

    @property
    def has_clip(self) -> bool:
        return self.clip is not None and self.clip.status == "completed"


class Storyboard(Row):
    """`settings` are clip_engine_id, aspect_ratio, resolution and audio, all filled in."""

    id: int
    account_id: int
    mode: Literal["wizard", "manual"]
    title: str | None = None
    prompt: str | None = None
    settings: dict[str, Any]
    scenes: list[Scene] = Field(default_factory=list)
    status: str | None = None
    file: str | None = None
    failure: dict[str, str] | None = None
    job_id: int | None = None
    created_at: float
    updated_at: float
