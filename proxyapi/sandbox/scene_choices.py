"""Open choices around scraping, the typed shortcuts, assets and storyboards."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class ScrapingChoices(BaseModel):
    scraping_pool: int = Field(
        default=20, ge=0, description="Pages read per pool window, by all accounts together."
    )
    scraping_pool_seconds: int = Field(
        default=60, ge=1, description="Length of the scraping pool's window, seconds."
    )
    loopback_pages: Literal["read", "refused"] = Field(
        default="read", description="Pages and pictures at http addresses on loopback."
    )
    page_without_images: Literal["refused", "empty"] = Field(
        default="refused", description="scrape-images of such a page: 422, or no assets."
    )


class FacelessChoices(BaseModel):
    shortcut_requires_type: bool = Field(
        default=False, description="Whether POST of a typed shortcut must name its type, too."
    )
    clip_engine_required: bool = Field(
        default=False,
        description="ai-clips without a clip engine: rendered by the cheapest, or 422.",
    )
    upload_bytes: int = Field(
        default=10_000_000, ge=1, description="Largest upload of an asset, in bytes."
    )
    uploads_per_video: int = Field(default=60, ge=1, description="Most assets of one video.")


class StoryboardChoices(BaseModel):
    scene_edit_method: Literal["PUT", "POST", "PATCH", "any"] = Field(
        default="PUT", description="Method of scenes/sort, frames and chain; others are 405."
    )
    storyboard_charged: Literal["at_render", "at_clips"] = Field(
        default="at_render",
        description="Clips are free and the render charges all scenes, or clips charge theirs"
        " and the render only what has no clip yet.",
    )
    wizard_prompt_charged: bool = Field(
        default=False, description="Whether the wizard's prompt charges CONTENT_PROMPT_REQUESTED."
    )
    wizard_scenes: int = Field(
        default=4, ge=1, le=20, description="Scenes of a prompt that does not say how many."
    )
    scenes_per_storyboard: int = Field(default=40, ge=1, description="Most scenes of one.")
    storyboard_patch_while_busy: Literal["refused", "allowed"] = Field(
        default="refused", description="Changes to a storyboard that is rendering: 403, or done."
    )


class SceneChoices(ScrapingChoices, FacelessChoices, StoryboardChoices):
    """All of these, for Settings to inherit."""
