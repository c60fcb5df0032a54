"""The choices that the specification leaves open, job durations and prices.

Each choice is one named setting with its answers; the first answer named is the default.
`GET/PUT /_sandbox/settings` reads and changes them while the sandbox runs.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from proxyapi.sandbox.choices import MoreChoices
from proxyapi.sandbox.dialect import Dialect
from proxyapi.sandbox.scene_choices import SceneChoices


class Price(BaseModel):
    """Credits per use, and how many uses are free before credits are charged."""

    model_config = ConfigDict(extra="forbid")

    credits: int = Field(ge=0)
    free: int | None = Field(default=None, ge=0)


def default_prices() -> dict[str, Price]:
    return {
        "content_prompt_requested": Price(credits=4),
        "faceless_render": Price(credits=10),
        "faceless_export": Price(credits=5, free=1),
        "idea_discovery": Price(credits=15),
        "character_training": Price(credits=10),
        "character_preview": Price(credits=0),
        "voice_clone_slot": Price(credits=50),
        "ai_image_regenerated": Price(credits=2, free=5),
    }


class Settings(MoreChoices, SceneChoices):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    # Shapes of answers
    dialect: Dialect = Field(
        default="spec", description="Where the specification is silent: ours, or version 1's."
    )
    insufficient_credits_place: Literal["error", "top_level", "both"] = Field(
        default="error", description="Where a 402 body has `required` and `available`."
    )
    create_status: Literal[201, 200] = Field(
        default=201, description="Status of a create call that starts no work."
    )
    draft_status: str | None = Field(
        default="draft", description="video.status before the first render; may be null."
    )
    debit_type: str = Field(default="Debit", description="transaction_type of a debit.")
    refund_type: str = Field(default="Refund", description="transaction_type of a refund.")
    top_up_type: str = Field(default="Credit", description="transaction_type of a top-up.")
    remaining_includes_extra: bool = Field(
        default=True, description="Whether credits.remaining counts the extra credits."
    )
    unknown_only: Literal["ignored", "refused"] = Field(
        default="ignored", description="An unknown group in `only`: ignored, or 422."
    )

    # The door
    rate_limit: int = Field(default=30, ge=1, description="Requests per token and window.")
    rate_seconds: int = Field(default=60, ge=1, description="Length of the window, seconds.")
    rate_window: Literal["fixed", "sliding"] = Field(
        default="fixed", description="Fixed from the first request, or the last N seconds."
    )
    rejected_count: bool = Field(
        default=False, description="Whether requests answered 429 count towards the limit."
    )
    unverified_email_refuses: Literal["writes", "everything"] = Field(
        default="writes",
        description="What EMAIL-NOT-VERIFIED (403) refuses on the generative endpoints.",
    )
    unverified_email_account_area: Literal["top_up", "all", "never"] = Field(
        default="top_up", description="Which account endpoints answer 409 while unverified."
    )

    # Videos
    patch_while_busy: Literal["allowed", "refused"] = Field(
        default="allowed", description="PATCH of a rendering video: allowed, or 403."
    )
    asset_order: Literal["taken", "ignored"] = Field(
        default="taken",
        description="`assets` in a PATCH: the order of those shown as `used`, or ignored.",
    )
    estimate_spread_percent: int = Field(
        default=8, ge=0, le=90, description="Largest difference between estimate and charge."
    )
    films: Literal["made", "plain"] = Field(
        default="made", description="Real videos, or a silent clip of 3 s, ready at once."
    )
    render_seconds: float = Field(
        default=6.0, ge=0, description="Shortest render, on the sandbox clock."
    )
    render_seconds_per_minute: float = Field(
        default=4.0, ge=0, description="Added render time per minute of video."
    )
    media_url_seconds: int | None = Field(
        default=None, ge=1, description="Lifetime of a media URL; null: it does not expire."
    )
    failed_render_refunds: bool = Field(
        default=False, description="Whether a failed faceless render is refunded."
    )

    # Auto top-up
    top_up_on_enabling: bool = Field(
        default=False, description="Whether enabling below the threshold charges at once."
    )
    top_up_charge: Literal["succeeds", "fails", "fails_once"] = Field(
        default="succeeds",
        description="Result of charging the saved payment method; fails_once: then succeeds.",
    )
    credit_packs: dict[int, int] = Field(
        default_factory=lambda: {301: 500, 302: 1000, 303: 5000},
        description="Active one-time credit-pack plans: plan_id to credits.",
    )

    # Prices
    costs: dict[str, Price] = Field(
        default_factory=default_prices, description="The credit cost map."
    )

    # The audit and the journal
    double_charge_seconds: float = Field(
        default=3.0,
        ge=0,
        description="Repeating a charging request within this time counts as a double charge.",
    )
    same_intent_seconds: float = Field(
        default=300.0,
        ge=0,
        description="Equal charging requests on different resources within this time are listed.",
    )
    journal_lines: int = Field(
        default=20_000,
        ge=1,
        description="Above this number the oldest lines of the journal are deleted.",
    )
