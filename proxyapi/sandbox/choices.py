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
        description="What FEATURE-NOT-ALLOWED refuses of a feature missing in the plan.",
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
        description="A range of durations in a menu: every second, or only the ends.",
    )
    clip_rounding: Literal["up", "nearest"] = Field(
        default="up", description="Rounding of rate times seconds to whole credits."
    )
    clip_seconds: float = Field(
        default=5.0, ge=0, description="Shortest render time of a clip, on the sandbox clock."
    )
    clip_seconds_per_second: float = Field(
        default=1.0, ge=0, description="Added render time per second of the clip."
    )
    clip_refund_seconds: float = Field(
        default=0.0, ge=0, description="Delay of the refund after a failure."
    )
    clip_failure_shape: Literal["object", "text"] = Field(
        default="object", description="asset.failure: code and message, or only a text."
    )


class IdeaChoices(BaseModel):
    idea_networks: list[str] = Field(
        default_factory=lambda: [
            "youtube", "tiktok", "instagram", "facebook", "x", "linkedin", "pinterest", "google",
        ],
        min_length=1,
        description="Networks that are searched for ideas.",
    )  # fmt: skip
    ideas_per_search: int = Field(default=20, ge=1, le=40, description="Ideas per search.")
    discovery_seconds: float = Field(
        default=2.0,
        ge=0,
        le=600,
        description="Duration of a search call; a frozen clock does not wait.",
    )
    fruitless_keywords: list[str] = Field(
        default_factory=list, description="Keywords without results, besides random letters."
    )
    fruitless_search: Literal["empty", "not_found"] = Field(
        default="empty", description="A search without results: 200 without ideas, or 404."
    )
    cached_search_is_quick: bool = Field(
        default=True, description="Whether a repeated search answers at once."
    )


class CharacterChoices(BaseModel):
    character_path_id: Literal["either", "integer", "uuid"] = Field(
        default="either", description="Which id of a character is used in paths."
    )
    character_draft_status: str = Field(
        default="draft", description="A character's status before it is trained."
    )
    character_image_bytes: int = Field(
        default=10_000_000, ge=1, description="Largest photo of a character."
    )
    previews_per_call: int = Field(default=3, ge=1, le=6, description="Candidates per preview.")
    previews_per_minute: int = Field(default=5, ge=1, description="Preview calls per minute.")
    preview_limit_per: Literal["account", "token"] = Field(
        default="account", description="Whether the limit of previews is per account or per token."
    )
    preview_seconds: float = Field(
        default=1.5,
        ge=0,
        le=600,
        description="Shortest duration of a preview call; a frozen clock does not wait.",
    )
    training_seconds: float = Field(default=20.0, ge=0, description="Training time of a character.")
    failed_training_refunds: bool = Field(
        default=False, description="Whether a failed training is refunded."
    )


class CloneChoices(BaseModel):
    clone_slots: int = Field(default=1, ge=0, description="Voice clones that a plan includes.")
    clone_slots_can_be_bought: bool = Field(
        default=True, description="can_buy: whether another slot may be bought."
    )
    slots_available: Literal["count", "flag"] = Field(
        default="count", description="`available` of the slots: a number, or whether there are any."
    )
    form_booleans: Literal["words_and_digits", "digits"] = Field(
        default="words_and_digits",
        description="Booleans of a form: true, false, 1, 0, on, off …, or only 1 and 0.",
    )
    sample_bytes: int = Field(default=20_000_000, ge=1, description="Largest voice sample.")
    clone_seconds: float = Field(
        default=15.0, ge=0, description="Processing time of a voice clone."
    )


class MoreChoices(PlanChoices, ClipChoices, IdeaChoices, CharacterChoices, CloneChoices):
    """All of these, for Settings to inherit."""
