"""Open choices around clips, ideas, characters, voice clones and what plans allow."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Quota(BaseModel):
    """What a plan allows; null is no limit. A month is the last 30 days."""

    model_config = ConfigDict(extra="forbid")

    renders: int | None = Field(default=None, ge=0, description="REACH-PLAN-LIMIT, a month")
    clips: int | None = Field(default=None, ge=0, description="REACH-PLAN-LIMIT, a month")
    characters: int | None = Field(default=None, ge=0, description="REACH-PLAN-LIMIT, in all")
    storage_bytes: int | None = Field(
        default=None, ge=0, description="REACH-PLAN-STORAGE-LIMIT, uploads in all"
    )
    exports: int | None = Field(default=None, ge=0, description="REACH-PLAN-PUBLISH-LIMIT, a month")


class PlanChoices(BaseModel):
    missing_feature_closes: Literal["everything", "writes"] = Field(
        default="everything",
        description="What FEATURE-NOT-ALLOWED closes of a feature that the plan lacks.",
    )
    models_outside_plan: dict[str, list[str]] = Field(
        default_factory=lambda: {"Starter": ["kestrel-voice", "halden", "halden-max"]},
        description="By plan, the clip engines that text-to-video does not offer.",
    )
    model_outside_plan: Literal["forbidden", "invalid"] = Field(
        default="forbidden",
        description="Such a model in estimate and create: FEATURE-NOT-ALLOWED, or 422.",
    )
    plan_quotas: dict[str, Quota] = Field(
        default_factory=lambda: {
            "Starter": Quota(
                renders=40, clips=20, characters=2, storage_bytes=200_000_000, exports=20
            )
        },
        description="Quotas by plan; a plan that is not named has none.",
    )


class ClipChoices(BaseModel):
    range_menu: Literal["options", "min_max"] = Field(
        default="options",
        description="A range of durations in a menu: every second listed, or only its ends.",
    )
    clip_rounding: Literal["up", "nearest"] = Field(
        default="up", description="How rate times seconds becomes whole credits."
    )
    clip_seconds: float = Field(
        default=5.0, ge=0, description="Shortest making of a clip, on the sandbox clock."
    )
    clip_seconds_per_second: float = Field(
        default=1.0, ge=0, description="What each second of a clip adds to that."
    )
    clip_refund_seconds: float = Field(
        default=0.0, ge=0, description="How long after a failure its credits come back."
    )
    clip_failure_shape: Literal["object", "text"] = Field(
        default="object", description="asset.failure: code and message, or only a sentence."
    )


class IdeaChoices(BaseModel):
    idea_networks: list[str] = Field(
        default_factory=lambda: [
            "youtube", "tiktok", "instagram", "facebook", "x", "linkedin", "pinterest", "google",
        ],
        min_length=1,
        description="Networks that ideas are looked for on.",
    )  # fmt: skip
    ideas_per_search: int = Field(default=20, ge=1, le=40, description="Ideas of one search.")
    discovery_seconds: float = Field(
        default=2.0,
        ge=0,
        le=600,
        description="How long a search keeps its client waiting; a frozen clock does not wait.",
    )
    fruitless_keywords: list[str] = Field(
        default_factory=list, description="Keywords that find nothing, besides gibberish."
    )
    fruitless_search: Literal["empty", "not_found"] = Field(
        default="empty", description="A search that finds nothing: 200 without ideas, or 404."
    )
    cached_search_is_quick: bool = Field(
        default=True, description="Whether a search that was made before answers at once."
    )


class CharacterChoices(BaseModel):
    character_path_id: Literal["either", "integer", "uuid"] = Field(
        default="either", description="Which id of a character goes into paths."
    )
    character_draft_status: str = Field(
        default="draft", description="A character's status before it is trained."
    )
    character_image_bytes: int = Field(
        default=10_000_000, ge=1, description="Largest photo of a character."
    )
    previews_per_call: int = Field(default=3, ge=1, le=6, description="Candidates of a preview.")
    previews_per_minute: int = Field(default=5, ge=1, description="Calls of preview a minute.")
    preview_limit_per: Literal["account", "token"] = Field(
        default="account", description="Who shares the allowance of previews."
    )
    preview_seconds: float = Field(
        default=1.5,
        ge=0,
        le=600,
        description="Least that a preview keeps its client waiting; not on a frozen clock.",
    )
    training_seconds: float = Field(default=20.0, ge=0, description="Training of a character.")
    failed_training_refunds: bool = Field(
        default=False, description="Whether a failed training gives its credits back."
    )


class CloneChoices(BaseModel):
    clone_slots: int = Field(default=1, ge=0, description="Voice clones that a plan includes.")
    clone_slots_can_be_bought: bool = Field(
        default=True, description="can_buy: whether another slot may be bought."
    )
    slots_available: Literal["count", "flag"] = Field(
        default="count", description="`available` of the slots: how many, or whether any."
    )
    form_booleans: Literal["words_and_digits", "digits"] = Field(
        default="words_and_digits",
        description="Booleans of a form: true, false, 1, 0, on, off …, or only 1 and 0.",
    )
    sample_bytes: int = Field(default=20_000_000, ge=1, description="Largest voice sample.")
    clone_seconds: float = Field(default=15.0, ge=0, description="Making of a voice clone.")


class MoreChoices(PlanChoices, ClipChoices, IdeaChoices, CharacterChoices, CloneChoices):
    """All of these, for Settings to inherit."""
